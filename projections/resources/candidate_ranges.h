// The pieces of indexes that candidates come from. Included by candidates.cc only.

#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
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

// Of its outline the first dozen members.
inline void FetchEntry(const ResourceEntry& entry, Looks looks) {
  constexpr std::size_t kLine = 64;
  const char* const begin = reinterpret_cast<const char*>(&entry);
  const std::size_t size = sizeof(entry) + (looks == Looks::kAtRecords ? 0 : 2 * kLine);
  for (std::size_t at = 0; at < size; at += kLine) {
    __builtin_prefetch(begin + at);
  }
  __builtin_prefetch(begin + size - 1);
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
        FetchEntry(*few[i], looks);
      }
      for (std::size_t i = 0; looks != Looks::kAtOutlines && i < count; ++i) {
        __builtin_prefetch(&few[i]->table());
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
    std::array<One, 16> few;
    for (auto at = range_.begin(); at != range_.end();) {
      std::size_t count = 0;
      for (; count < few.size() && at != range_.end(); ++at, ++count) {
        few[count].status = *at;
        FetchAll(*few[count].status);
      }
      Fetch({few.data(), count});
      for (std::size_t i = 0; i < count; ++i) {
        const ResourceEntry* entry = few[i].Entry(image_);
        if (entry != nullptr && !visit(*entry)) {
          return;
        }
      }
    }
  }

 private:
  struct One {
    const ResourceEntry* Entry(const ResourcesImage& image) const {
      const std::string_view id = status->resource_id();
      return likely != nullptr && likely->id() == id ? likely : image.Find(id);
    }

    const StatusEntry* status = nullptr;
    const ResourceEntry* likely = nullptr;  // Its id begins in the same way.
  };

  template <typename T>
  static void FetchAll(const T& what) {
    __builtin_prefetch(&what);
    __builtin_prefetch(reinterpret_cast<const char*>(&what + 1) - 1);
  }

  // What is looked up is all over the memory, as in TreeRange, and one look-up leads to the next:
  // a few resources go together from step to step.
  void Fetch(std::span<One> few) const {
    for (const One& one : few) {
      __builtin_prefetch(one.status->resource_id().data());
    }
    for (One& one : few) {
      const auto hint = IdProbe::HintOf(one.status->resource_id());
      const OwnedEntry* owned = image_.trees().by_id.Find(HintProbe{hint});
      one.likely = owned == nullptr ? nullptr : owned->entry.get();
      if (one.likely != nullptr) {
        FetchAll(*one.likely);
      }
    }
    for (const One& one : few) {
      if (one.likely != nullptr) {
        __builtin_prefetch(one.likely->id().data());
      }
    }
  }

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
