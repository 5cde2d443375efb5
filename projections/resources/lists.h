// ListPlan: how a list is answered: from the index that has the least to look at.
//
//   const ListPlan plan(*resources, statuses, scope, options);
//   if (plan.cost() > enough) ...   // then on a worker, by RunWhile
//   ListPage page = plan.Run();
//
// What is found is the same whichever index is taken: every candidate is held against all that the
// list asks for, unless its index is known to have nothing else.

#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include <absl/status/statusor.h>

#include "projections/resources/candidates.h"
#include "projections/resources/image.h"
#include "projections/search/matcher.h"
#include "projections/statuses/image.h"

namespace projections {

// Immutable, so thread-safe. Never blocks; Run takes time in proportion to cost().
class ListPlan {
 public:
  // All must outlive the plan, and what `scope` points to. `statuses` has the conditions that a
  // search asks for; null: there are none. REQUIRES: options.page and options.size > 0.
  ListPlan(const ResourcesImage& image, const StatusesImage* statuses, const ListScope& scope,
           const ListOptions& options);

  // How many resources it looks at.
  std::size_t cost() const;

  ListPage Run() const;

  // Whether to look further. Asked at the beginning, and then before each of so many resources.
  using MayGoOn = std::function<absl::Status()>;
  static constexpr std::size_t kLookedAtBetween = 256;
  // As Run, but ends with what `may_go_on` says when that is not ok.
  absl::StatusOr<ListPage> RunWhile(const MayGoOn& may_go_on) const;

 private:
  class Look;

  bool IsInOrder() const;
  bool Fits(const ResourceEntry& entry) const;
  std::size_t FirstOfPage(std::size_t total) const;
  // How many candidates are not behind the place where the page begins. REQUIRES: IsInOrder().
  std::size_t CountBefore(const ListPlace& place) const;
  // A piece of a range of which nothing has to be left out.
  ListPage Cut() const;
  // What fits, picked out of candidates that are in order; sorted otherwise.
  ListPage Pick(Look& look) const;
  ListPage Sort(Look& look) const;

  const StatusesImage* statuses_;
  ListScope scope_;
  ListOptions options_;
  std::optional<search::Matcher> matcher_;  // None: everything matches.
  Looks looks_;
  Candidates candidates_;
  bool is_exact_;
};

}  // namespace projections
