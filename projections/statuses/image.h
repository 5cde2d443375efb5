// StatusesImage: what adapters reported and the conditions that follow from it, at one position of
// the stream `statuses`, ready to be asked.
//
//   const auto image = view.Get<StatusesImage>();
//   const StatusEntry* status = (*image)->Find(cluster_id);
//   for (const ReportEntry* report : (*image)->Reports(cluster_id)) { ... }
//   for (const StatusEntry* stale : (*image)->WithCondition("Reconciled", kTrue, hour_ago)) { ... }
//
// How it is kept: docs/resources.md.

#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"
#include "engine/view.h"
#include "projections/statuses/indexes.h"
#include "projections/tree_snapshot.h"
#include "schemas/streams.h"

namespace projections {

// What the image and the projection that builds it hold.
template <template <typename Entry, typename Less> class Tree>
struct StatusTrees {
  Tree<OwnedStatus, ByStatusId> statuses;
  Tree<OwnedReport, ByReport> reports;
  Tree<ConditionKey, ByCondition> conditions;
};
template <typename Entry, typename Less>
using StatusImageTree = TreeSnapshot<Entry, Less>;

// Texts of types, shared by conditions. Grows only; texts stay where they are.
using ConditionTypes = std::set<std::string, std::less<>>;

// The resources that have some condition, the one that was updated longest ago first. Valid while
// the image it came from lives.
class ConditionRange {
  using Inner = TreeSnapshot<ConditionKey, ByCondition>::Iterator;

 public:
  class Iterator {
   public:
    using value_type = const StatusEntry*;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    explicit Iterator(Inner at) : at_(at) {}
    const StatusEntry* operator*() const { return at_->entry; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++at_;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.at_ == b.at_; }

   private:
    friend class ConditionRange;
    Inner at_;
  };

  ConditionRange(Inner begin, Inner end) : begin_(begin), end_(end) {}

  std::size_t size() const { return end_.at_.rank() - begin_.at_.rank(); }  // O(1).
  Iterator begin() const { return begin_; }
  Iterator end() const { return end_; }

 private:
  Iterator begin_;
  Iterator end_;
};

// Immutable, so thread-safe; never blocks. Entries live as long as the image.
class StatusesImage final : public engine::ProjectionImage {
 public:
  static constexpr engine::StreamId kStream = schemas::kStatusesStream;
  static constexpr engine::Freshness kNeeds = engine::Freshness::kLatest;

  StatusesImage() = default;
  StatusesImage(StatusTrees<StatusImageTree> trees, std::shared_ptr<const ConditionTypes> types,
                std::uint64_t digest)
      : trees_(std::move(trees)), types_(std::move(types)), digest_(digest) {}

  // The sum of DigestTerm (projections/digest_term.h) over all keys. Positions, transactions and
  // times of rows are no part of it.
  std::uint64_t StateDigest() const override { return digest_; }

  absl::Status Save(const engine::StatePartSink& sink) const override;

  // The conditions of a resource. Null when none were ever written, or the resource is gone.
  const StatusEntry* Find(std::string_view resource_id) const;

  // Null when that adapter never reported about the resource.
  const ReportEntry* FindReport(std::string_view resource_id, std::string_view adapter) const;

  // All reports about a resource, by adapter.
  std::vector<const ReportEntry*> Reports(std::string_view resource_id) const;

  // The resources whose condition `type` has that status; with `before`, only those where it was
  // last updated before that time.
  ConditionRange WithCondition(std::string_view type, schemas::ConditionStatus status) const;
  ConditionRange WithCondition(std::string_view type, schemas::ConditionStatus status,
                               engine::Timestamp before) const;

  // Everything, by resource (and adapter).
  std::vector<const StatusEntry*> AllConditions() const;
  std::vector<const ReportEntry*> AllReports() const;

  // How many resources have conditions, and how many reports there are.
  std::size_t size() const { return trees_.statuses.size(); }
  std::size_t reports() const { return trees_.reports.size(); }

 private:
  StatusTrees<StatusImageTree> trees_;
  std::shared_ptr<const ConditionTypes> types_;
  std::uint64_t digest_ = 0;
};

}  // namespace projections
