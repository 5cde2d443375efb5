// TreeSnapshot: one state of a PersistentTree (projections/persistent_tree.h), and how it is read.

#pragma once

#include <cstddef>
#include <iterator>

#include "projections/persistent_tree_nodes.h"

namespace projections {

template <typename Entry, typename Less, std::size_t kCapacity>
class PersistentTree;

// One state of a tree. Immutable; a copy costs a counter. Thread-safe to read and to drop.
template <typename Entry, typename Less, std::size_t kCapacity = 32>
class TreeSnapshot {
  using Ref = persistent_tree_internal::NodeRef<Entry, kCapacity>;
  using Search = persistent_tree_internal::Search<Entry, Less, kCapacity>;

 public:
  // Walks the entries in order, both ways. Valid while the snapshot it came from lives.
  class Iterator {
   public:
    using iterator_category = std::bidirectional_iterator_tag;
    using value_type = Entry;
    using difference_type = std::ptrdiff_t;
    using pointer = const Entry*;
    using reference = const Entry&;

    Iterator() = default;
    reference operator*() const { return leaf_->items[at_]; }
    pointer operator->() const { return &leaf_->items[at_]; }
    // REQUIRES: not at the end.
    Iterator& operator++() {
      ++rank_;
      if (++at_ == leaf_->items.size()) {
        Seek();
      }
      return *this;
    }
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    // REQUIRES: not at the begin.
    Iterator& operator--() {
      --rank_;
      if (leaf_ == nullptr || at_ == 0) {
        Seek();
      } else {
        --at_;
      }
      return *this;
    }
    Iterator operator--(int) {
      Iterator before = *this;
      --*this;
      return before;
    }
    friend bool operator==(const Iterator& a, const Iterator& b) { return a.rank_ == b.rank_; }

    // The number of entries before this one.
    std::size_t rank() const { return rank_; }

   private:
    friend class TreeSnapshot;
    Iterator(const TreeSnapshot& tree, std::size_t rank) : tree_(&tree), rank_(rank) { Seek(); }
    // Finds the entry by its rank: once a leaf.
    void Seek() {
      leaf_ = nullptr;
      if (rank_ >= tree_->size_) {
        return;
      }
      const Ref* node = &tree_->root_;
      std::size_t rank = rank_;
      while (!node->is_leaf()) {
        const auto* slot = node->inner().items.begin();
        for (; rank >= slot->count; ++slot) {
          rank -= slot->count;
        }
        node = &slot->child;
      }
      leaf_ = &node->leaf();
      at_ = rank;
    }

    const TreeSnapshot* tree_ = nullptr;
    const typename Search::LeafNode* leaf_ = nullptr;
    std::size_t at_ = 0;    // In the leaf.
    std::size_t rank_ = 0;  // In the tree.
  };

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Iterator begin() const { return Iterator(*this, 0); }
  Iterator end() const { return Iterator(*this, size_); }
  // The entry with `rank` entries before it; the end if there are fewer.
  Iterator Select(std::size_t rank) const { return Iterator(*this, rank < size_ ? rank : size_); }

  // An entry that is equal to the probe, null if there is none. Lives as long as the snapshot.
  template <typename Probe>
  const Entry* Find(const Probe& probe) const {
    if (empty()) {
      return nullptr;
    }
    const Ref* node = &root_;
    while (!node->is_leaf()) {
      node =
          &node->inner().items[Search::template ChildFor<true>(node->inner(), probe, less_)].child;
    }
    const auto& items = node->leaf().items;
    const std::size_t after = Search::template PlaceIn<true>(node->leaf(), probe, less_);
    return after > 0 && !less_(items[after - 1], probe) ? &items[after - 1] : nullptr;
  }

  // The number of entries before the probe, and the number not behind it.
  template <typename Probe>
  std::size_t CountBefore(const Probe& probe) const {
    return Rank<false>(probe);
  }
  template <typename Probe>
  std::size_t CountThrough(const Probe& probe) const {
    return Rank<true>(probe);
  }
  // The number of entries equal to the probe.
  template <typename Probe>
  std::size_t Count(const Probe& probe) const {
    return CountThrough(probe) - CountBefore(probe);
  }

  // The first entry that is not before the probe, and the first behind it.
  template <typename Probe>
  Iterator LowerBound(const Probe& probe) const {
    return Iterator(*this, CountBefore(probe));
  }
  template <typename Probe>
  Iterator UpperBound(const Probe& probe) const {
    return Iterator(*this, CountThrough(probe));
  }

 private:
  friend class PersistentTree<Entry, Less, kCapacity>;

  template <bool kAfter, typename Probe>
  std::size_t Rank(const Probe& probe) const {
    if (empty()) {
      return 0;
    }
    std::size_t rank = 0;
    const Ref* node = &root_;
    while (!node->is_leaf()) {
      const auto& items = node->inner().items;
      const std::size_t child = Search::template ChildFor<kAfter>(node->inner(), probe, less_);
      for (std::size_t i = 0; i < child; ++i) {
        rank += items[i].count;
      }
      node = &items[child].child;
    }
    return rank + Search::template PlaceIn<kAfter>(node->leaf(), probe, less_);
  }

  Ref root_;
  std::size_t size_ = 0;
  [[no_unique_address]] Less less_;
};

}  // namespace projections
