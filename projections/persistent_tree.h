// PersistentTree: an ordered set of entries whose state can be kept, for nothing, at any moment.
//
// A copy-on-write B+-tree that counts the entries below each child. `Snapshot()` costs O(1): it
// shares the root, and the writes that follow copy the nodes on their path, once per snapshot. A
// reader walks the snapshot it holds without locks while the next state is being built. Look-ups,
// the n-th entry and the number of entries in a range cost O(log n), so a page far down a list
// costs what the first one does.
//
// It is ours because there is none to take: libimmer, the packaged library of persistent
// structures, has no ordered map; the tree maps of Boost and Abseil copy everything or nothing.
// docs/adr/0001-persistent-tree.md
//
// An Entry is key and value in one, cheap to copy (a pointer); `Less` is a strict weak order that
// looks at the key alone. It has to compare an entry with whatever look-ups are given (a probe),
// in both orders. A probe that stands for a prefix of the key is equal to all entries with it:
// LowerBound and UpperBound are then the ends of that range.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "engine/base/guard.h"
#include "projections/persistent_tree_nodes.h"
#include "projections/tree_snapshot.h"

namespace projections {

// The state that is being built. One thread; never blocks.
//
// kCapacity is the number of entries a node holds at most; tests use a small one.
template <typename Entry, typename Less, std::size_t kCapacity = 32>
class PersistentTree {
  static_assert(kCapacity >= 4 && kCapacity % 2 == 0);
  using Ref = persistent_tree_internal::NodeRef<Entry, kCapacity>;
  using LeafNode = persistent_tree_internal::Leaf<Entry, kCapacity>;
  using InnerNode = persistent_tree_internal::Inner<Entry, kCapacity>;
  using Slot = persistent_tree_internal::Slot<Entry, kCapacity>;
  using Search = persistent_tree_internal::Search<Entry, Less, kCapacity>;

 public:
  using Snapshots = TreeSnapshot<Entry, Less, kCapacity>;

  PersistentTree() = default;
  PersistentTree(const PersistentTree&) = delete;
  PersistentTree& operator=(const PersistentTree&) = delete;

  // The state as it is now, for ever. Starts a new edit: each node is copied before its next
  // change.
  Snapshots Snapshot() {
    ++edit_;
    return state_;
  }

  std::size_t size() const { return state_.size(); }
  // As in TreeSnapshot; the pointer is good until the next write.
  template <typename Probe>
  const Entry* Find(const Probe& probe) const {
    return state_.Find(probe);
  }

  // Removes everything; snapshots keep what they have.
  void Clear() { state_ = Snapshots(); }

  // Puts `entry` in the place of the one that is equal to it, if there is one.
  // Returns whether it is a new one.
  bool Insert(Entry entry) {
    if (!state_.root_) {
      state_.root_ = Ref(new LeafNode(edit_));
    }
    Ref split;
    const bool grew = InsertInto(state_.root_, std::move(entry), split);
    if (split) {
      auto* root = new InnerNode(edit_);
      root->items.InsertAt(0, SlotOf(std::move(state_.root_)));
      root->items.InsertAt(1, SlotOf(std::move(split)));
      state_.root_ = Ref(root);
    }
    state_.size_ += grew ? 1 : 0;
    return grew;
  }

  // Removes the entry that is equal to the probe and returns it.
  // REQUIRES: at most one is.
  template <typename Probe>
  std::optional<Entry> Erase(const Probe& probe) {
    const Entry* found = state_.Find(probe);
    if (found == nullptr) {
      return std::nullopt;
    }
    // The caller's probe may point into the tree that is being changed; the entry cannot.
    Entry entry = *found;
    EraseFrom(state_.root_, entry);
    --state_.size_;
    while (!state_.root_.is_leaf() && state_.root_.inner().items.size() == 1) {
      state_.root_ = Ref(state_.root_.inner().items[0].child);
    }
    if (state_.size_ == 0) {
      state_.root_ = Ref();
    }
    return entry;
  }

 private:
  // Below this a node is filled up from its neighbour.
  static constexpr std::size_t kSparse = kCapacity / 4;

  void Own(Ref& node) {
    if (GUARD("persistent-tree.copy", node.edit() == edit_)) {
      return;
    }
    node = node.is_leaf() ? Ref(new LeafNode(node.leaf(), edit_))
                          : Ref(new InnerNode(node.inner(), edit_));
  }
  static Slot SlotOf(Ref node) {
    Entry first = Search::FirstOf(node);
    const std::size_t count = Search::CountOf(node);
    return Slot{std::move(first), std::move(node), count};
  }

  // Inserts into items that are full: they are halved, or, where they grow at the end, kept full,
  // so that keys that only rise fill their nodes.
  template <typename NodeType, typename Item>
  Ref SplitInsert(NodeType& left, std::size_t place, Item item) {
    auto* right = new NodeType(edit_);
    const std::size_t keep = place == kCapacity ? kCapacity : kCapacity / 2;
    left.items.MoveTailTo(keep, right->items);
    if (place <= keep && keep < kCapacity) {
      left.items.InsertAt(place, std::move(item));
    } else {
      right->items.InsertAt(place - keep, std::move(item));
    }
    return Ref(right);
  }

  bool InsertInto(Ref& node, Entry entry, Ref& split) {
    Own(node);
    if (node.is_leaf()) {
      return InsertIntoLeaf(node.leaf(), std::move(entry), split);
    }
    InnerNode& inner = node.inner();
    const std::size_t at = Search::template ChildFor<true>(inner, entry, state_.less_);
    Slot& slot = inner.items[at];
    Ref child_split;
    const bool grew = InsertInto(slot.child, std::move(entry), child_split);
    slot.first = Search::FirstOf(slot.child);
    if (!child_split) {
      slot.count += grew ? 1 : 0;
      return grew;
    }
    slot.count = Search::CountOf(slot.child);
    Slot added = SlotOf(std::move(child_split));
    if (inner.items.full()) {
      split = SplitInsert(inner, at + 1, std::move(added));
    } else {
      inner.items.InsertAt(at + 1, std::move(added));
    }
    return grew;
  }

  bool InsertIntoLeaf(LeafNode& leaf, Entry entry, Ref& split) {
    const std::size_t place = Search::template PlaceIn<false>(leaf, entry, state_.less_);
    if (place < leaf.items.size() && !state_.less_(entry, leaf.items[place])) {
      leaf.items[place] = std::move(entry);
      return false;
    }
    if (leaf.items.full()) {
      split = SplitInsert(leaf, place, std::move(entry));
    } else {
      leaf.items.InsertAt(place, std::move(entry));
    }
    return true;
  }

  // REQUIRES: the entry is below `node`.
  void EraseFrom(Ref& node, const Entry& entry) {
    Own(node);
    if (node.is_leaf()) {
      auto& items = node.leaf().items;
      items.EraseAt(Search::template PlaceIn<false>(node.leaf(), entry, state_.less_));
      return;
    }
    InnerNode& inner = node.inner();
    const std::size_t at = Search::template ChildFor<true>(inner, entry, state_.less_);
    Slot& slot = inner.items[at];
    EraseFrom(slot.child, entry);
    --slot.count;
    if (slot.count == 0) {
      inner.items.EraseAt(at);
      return;
    }
    slot.first = Search::FirstOf(slot.child);
    if (Search::SizeOf(slot.child) < kSparse && inner.items.size() > 1) {
      FillUp(inner, at > 0 ? at - 1 : at);
    }
  }

  // Makes one node of two sparse neighbours, or two of about one size.
  void FillUp(InnerNode& inner, std::size_t left) {
    Slot& a = inner.items[left];
    Slot& b = inner.items[left + 1];
    Own(a.child);
    Own(b.child);
    const bool emptied = a.child.is_leaf() ? Level(a.child.leaf().items, b.child.leaf().items)
                                           : Level(a.child.inner().items, b.child.inner().items);
    a.count = Search::CountOf(a.child);
    if (emptied) {
      inner.items.EraseAt(left + 1);
      return;
    }
    b.first = Search::FirstOf(b.child);
    b.count = Search::CountOf(b.child);
  }

  // Returns whether `right` is empty now.
  template <typename ItemsType>
  static bool Level(ItemsType& left, ItemsType& right) {
    const std::size_t total = left.size() + right.size();
    const std::size_t wanted = total <= kCapacity ? total : total / 2;
    if (left.size() < wanted) {
      left.TakeHeadOf(right, wanted - left.size());
    } else {
      left.MoveTailTo(wanted, right);
    }
    return right.size() == 0;
  }

  Snapshots state_;  // Shares its nodes with earlier snapshots.
  std::uint64_t edit_ = 0;
};

}  // namespace projections
