// The pieces of indexes that candidates come from. Included by candidates.cc only.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/container/flat_hash_set.h>

#include "projections/resources/candidates.h"

namespace projections {

inline const ResourceEntry& EntryIn(const AgeKey& key) {
  return *key.entry;
}
inline const ResourceEntry& EntryIn(const KindKey& key) {
  return *key.age.entry;
}
inline const ResourceEntry& EntryIn(const OwnerKey& key) {
  return *key.kind.age.entry;
}
inline const ResourceEntry& EntryIn(const TargetKey& key) {
  return *key.source();
}
inline const ResourceEntry& EntryIn(const MarkKey& key) {
  return *key.age.entry;
}

// The first 2 kB: of longer ones the machine fetches the rest by itself.
inline void FetchSpec(const ResourceEntry& entry) {
  constexpr std::size_t kLine = 64;
  const std::string_view spec = schemas::Text(entry.table().spec()).substr(0, 2048);
  for (std::size_t at = 0; at < spec.size(); at += kLine) {
    __builtin_prefetch(spec.data() + at);
  }
}

template <typename Tree>
class TreeRange final : public CandidateRange {
 public:
  TreeRange(const Tree& tree, std::size_t first, std::size_t last)
      : tree_(tree), first_(first), last_(last) {}

  std::size_t size() const override { return last_ - first_; }
  void Walk(std::size_t first, std::size_t last, Looks looks, const Visit& visit) const override {
    // Entries and their records are all over the memory: those of a few are fetched at once, so
    // that they are waited for together.
    std::array<const ResourceEntry*, 16> few;
    auto at = tree_.Select(first_ + first);
    while (first < last) {
      const std::size_t count = std::min(few.size(), last - first);
      for (std::size_t i = 0; i < count; ++i, ++at) {
        few[i] = &EntryIn(*at);
        __builtin_prefetch(few[i]);
        __builtin_prefetch(reinterpret_cast<const char*>(few[i] + 1) - 1);
      }
      for (std::size_t i = 0; i < count; ++i) {
        if (looks != Looks::kAtRecords) {
          few[i]->spec_outline().Fetch();
        }
        if (looks != Looks::kAtOutlines) {
          __builtin_prefetch(&few[i]->table());
        }
      }
      for (std::size_t i = 0; looks == Looks::kAtSpecs && i < count; ++i) {
        FetchSpec(*few[i]);
      }
      for (std::size_t i = 0; i < count; ++i) {
        if (!visit(*few[i])) {
          return;
        }
      }
      first += count;
    }
  }

 private:
  const Tree& tree_;
  const std::size_t first_;
  const std::size_t last_;
};

using RangePtr = std::shared_ptr<const CandidateRange>;

template <typename Tree>
RangePtr All(const Tree& tree) {
  return std::make_shared<TreeRange<Tree>>(tree, 0, tree.size());
}
template <typename Tree, typename Probe>
RangePtr Equal(const Tree& tree, const Probe& probe) {
  return std::make_shared<TreeRange<Tree>>(tree, tree.CountBefore(probe), tree.CountThrough(probe));
}

// The resources that have a condition.
class WithCondition final : public CandidateRange {
 public:
  WithCondition(const ResourcesImage& image, ConditionRange range) : image_(image), range_(range) {}

  std::size_t size() const override { return range_.size(); }
  // REQUIRES: the whole range.
  void Walk(std::size_t, std::size_t, Looks, const Visit& visit) const override {
    for (const StatusEntry* status : range_) {
      const ResourceEntry* entry = image_.Find(status->resource_id());
      if (entry != nullptr && !visit(*entry)) {
        return;
      }
    }
  }

 private:
  const ResourcesImage& image_;
  const ConditionRange range_;
};

class Named final : public CandidateRange {
 public:
  explicit Named(std::vector<const ResourceEntry*> entries) : entries_(std::move(entries)) {}

  std::size_t size() const override { return entries_.size(); }
  void Walk(std::size_t first, std::size_t last, Looks, const Visit& visit) const override {
    for (std::size_t i = first; i < last && visit(*entries_[i]); ++i) {
    }
  }

 private:
  const std::vector<const ResourceEntry*> entries_;
};

// What is in any of several ranges, once.
class AnyOf final : public CandidateRange {
 public:
  explicit AnyOf(std::vector<RangePtr> ranges) : ranges_(std::move(ranges)) {}

  // What is in two of them counts twice.
  std::size_t size() const override {
    std::size_t size = 0;
    for (const RangePtr& range : ranges_) {
      size += range->size();
    }
    return size;
  }
  // REQUIRES: the whole range.
  void Walk(std::size_t, std::size_t, Looks looks, const Visit& visit) const override {
    absl::flat_hash_set<const ResourceEntry*> seen;
    bool goes_on = true;
    for (auto range = ranges_.begin(); range != ranges_.end() && goes_on; ++range) {
      (*range)->Walk(0, (*range)->size(), looks, [&](const ResourceEntry& entry) {
        goes_on = !seen.insert(&entry).second || visit(entry);
        return goes_on;
      });
    }
  }

 private:
  const std::vector<RangePtr> ranges_;
};

}  // namespace projections
