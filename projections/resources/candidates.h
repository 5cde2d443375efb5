// Candidates: which resources a list has to look at. The smallest range of an index that is known
// to have all that the list shows; the rest of what the list asks for is left to be looked at.
//
// Thread-compatible; never blocks.

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "projections/resources/image.h"
#include "projections/statuses/image.h"

namespace projections {

// What a walk goes on to look at in each resource.
enum class Looks { kAtRecords, kAtOutlines, kAtSpecs };

// One piece of an index.
class CandidateRange {
 public:
  // False: that was enough.
  using Visit = std::function<bool(const ResourceEntry&)>;

  virtual ~CandidateRange() = default;
  virtual std::size_t size() const = 0;
  // Those at the places from `first` to one before `last`, in order, until it was enough.
  // What `looks` says is fetched ahead where that is possible.
  virtual void Walk(std::size_t first, std::size_t last, Looks looks, const Visit& visit) const = 0;
};

// What a list may ask for. Bits.
enum Asked : unsigned {
  kAsksKind = 1,
  kAsksOwner = 2,
  kAsksReference = 4,
  kAsksTenant = 8,
  kAsksSearch = 16,
};
unsigned AskedBy(const ListScope& scope, const ListOptions& options);

struct Candidates {
  // No resource is in two of them.
  std::vector<std::shared_ptr<const CandidateRange>> ranges;
  // What all candidates are known to be. Bits of Asked.
  unsigned covers = 0;
  // They are newest first. Then there is one range.
  bool in_order = false;
  // They are what the search looks for, and not only by a hash of it: it is not asked again.
  bool is_found = false;

  std::size_t size() const;
};

// `image`, `statuses` (null: there are no conditions) and what `scope` and `options` point to
// outlive the result.
Candidates FindCandidates(const ResourcesImage& image, const StatusesImage* statuses,
                          const ListScope& scope, const ListOptions& options);

}  // namespace projections
