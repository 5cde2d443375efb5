// The nodes of PersistentTree (projections/persistent_tree.h) and how they are read and edited.
// Include that header instead.
//
// A leaf holds entries in order; an inner node holds, for each child, its smallest entry, the
// child and the number of entries below it. Keeping the smallest entry exact, rather than some
// separator, means that no replaced or erased entry is kept alive by the tree.
//
// A node is immutable as soon as a snapshot may share it. Each node remembers the edit (a number)
// that made it; the tree starts a new edit with each snapshot, and copies a node of an older edit
// before it changes it. So a batch of writes copies each touched node once.

#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace projections::persistent_tree_internal {

// A vector that lives inside its node. Unused places hold T{}, so that they own nothing.
template <typename T, std::size_t kCapacity>
class Items {
 public:
  Items() = default;
  Items(const Items& other) : size_(other.size_) {
    std::copy_n(other.items_.begin(), size_, items_.begin());
  }
  Items& operator=(const Items&) = delete;

  std::size_t size() const { return size_; }
  bool full() const { return size_ == kCapacity; }
  T& operator[](std::size_t index) { return items_[index]; }
  const T& operator[](std::size_t index) const { return items_[index]; }
  const T* begin() const { return items_.data(); }
  const T* end() const { return items_.data() + size_; }

  // REQUIRES: not full.
  void InsertAt(std::size_t index, T item) {
    std::move_backward(items_.begin() + index, items_.begin() + size_, items_.begin() + size_ + 1);
    items_[index] = std::move(item);
    ++size_;
  }
  void EraseAt(std::size_t index) {
    std::move(items_.begin() + index + 1, items_.begin() + size_, items_.begin() + index);
    --size_;
    items_[size_] = T{};
  }
  // Moves everything from `index` on to the front of `right`, before what is there.
  void MoveTailTo(std::size_t index, Items& right) {
    const std::size_t count = size_ - index;
    std::move_backward(right.items_.begin(), right.items_.begin() + right.size_,
                       right.items_.begin() + right.size_ + count);
    std::move(items_.begin() + index, items_.begin() + size_, right.items_.begin());
    right.size_ += count;
    Truncate(index);
  }
  // Moves the first `count` items of `right` to the end.
  void TakeHeadOf(Items& right, std::size_t count) {
    std::move(right.items_.begin(), right.items_.begin() + count, items_.begin() + size_);
    size_ += count;
    std::move(right.items_.begin() + count, right.items_.begin() + right.size_,
              right.items_.begin());
    right.Truncate(right.size_ - count);
  }

 private:
  void Truncate(std::size_t size) {
    std::fill(items_.begin() + size, items_.begin() + size_, T{});
    size_ = size;
  }

  std::size_t size_ = 0;
  std::array<T, kCapacity> items_{};
};

template <typename Entry, std::size_t kCapacity>
struct Leaf;
template <typename Entry, std::size_t kCapacity>
struct Inner;

// What both kinds of node begin with.
struct Node {
  Node(bool leaf, std::uint64_t made_by) : is_leaf(leaf), edit(made_by) {}

  std::atomic<std::uint32_t> references{1};
  const bool is_leaf;
  const std::uint64_t edit;
};

// Counted reference to a node; snapshots are dropped on any thread.
template <typename Entry, std::size_t kCapacity>
class NodeRef {
 public:
  using LeafNode = Leaf<Entry, kCapacity>;
  using InnerNode = Inner<Entry, kCapacity>;

  NodeRef() = default;
  // Takes over the reference that a new node is born with.
  explicit NodeRef(Node* fresh) : node_(fresh) {}
  NodeRef(const NodeRef& other) : node_(other.node_) {
    if (node_ != nullptr) {
      node_->references.fetch_add(1, std::memory_order_relaxed);
    }
  }
  NodeRef(NodeRef&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  NodeRef& operator=(NodeRef other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~NodeRef() { Release(); }

  explicit operator bool() const { return node_ != nullptr; }
  const Node* get() const { return node_; }
  bool is_leaf() const { return node_->is_leaf; }
  std::uint64_t edit() const { return node_->edit; }
  // REQUIRES: the node is of that kind. To write: it was made by the running edit.
  LeafNode& leaf() const { return *static_cast<LeafNode*>(node_); }
  InnerNode& inner() const { return *static_cast<InnerNode*>(node_); }

 private:
  void Release() {
    if (node_ == nullptr || node_->references.fetch_sub(1, std::memory_order_acq_rel) != 1) {
      return;
    }
    if (node_->is_leaf) {
      delete static_cast<LeafNode*>(node_);
    } else {
      delete static_cast<InnerNode*>(node_);
    }
  }

  Node* node_ = nullptr;
};

template <typename Entry, std::size_t kCapacity>
struct Leaf : Node {
  explicit Leaf(std::uint64_t made_by) : Node(true, made_by) {}
  Leaf(const Leaf& other, std::uint64_t made_by) : Node(true, made_by), items(other.items) {}

  Items<Entry, kCapacity> items;
};

template <typename Entry, std::size_t kCapacity>
struct Slot {
  Entry first{};  // The smallest entry below `child`.
  NodeRef<Entry, kCapacity> child;
  std::size_t count = 0;  // Entries below `child`.
};

template <typename Entry, std::size_t kCapacity>
struct Inner : Node {
  explicit Inner(std::uint64_t made_by) : Node(false, made_by) {}
  Inner(const Inner& other, std::uint64_t made_by) : Node(false, made_by), items(other.items) {}

  Items<Slot<Entry, kCapacity>, kCapacity> items;
};

// Reading: places in a node. A probe is an entry or anything that Less can compare with one; it
// may be equal to many entries (a prefix of their keys).
template <typename Entry, typename Less, std::size_t kCapacity>
struct Search {
  using Ref = NodeRef<Entry, kCapacity>;
  using LeafNode = Leaf<Entry, kCapacity>;
  using InnerNode = Inner<Entry, kCapacity>;

  // The first entry of the leaf that is not before the probe, or (kAfter) that is behind it.
  template <bool kAfter, typename Probe>
  static std::size_t PlaceIn(const LeafNode& leaf, const Probe& probe, const Less& less) {
    const Entry* place = std::partition_point(
        leaf.items.begin(), leaf.items.end(),
        [&](const Entry& entry) { return kAfter ? !less(probe, entry) : less(entry, probe); });
    return static_cast<std::size_t>(place - leaf.items.begin());
  }
  // The child in which that place is.
  template <bool kAfter, typename Probe>
  static std::size_t ChildFor(const InnerNode& inner, const Probe& probe, const Less& less) {
    const auto* slot = std::partition_point(
        inner.items.begin() + 1, inner.items.end(), [&](const Slot<Entry, kCapacity>& s) {
          return kAfter ? !less(probe, s.first) : less(s.first, probe);
        });
    return static_cast<std::size_t>(slot - inner.items.begin()) - 1;
  }
  static const Entry& FirstOf(const Ref& node) {
    return node.is_leaf() ? node.leaf().items[0] : node.inner().items[0].first;
  }
  static std::size_t SizeOf(const Ref& node) {
    return node.is_leaf() ? node.leaf().items.size() : node.inner().items.size();
  }
  static std::size_t CountOf(const Ref& node) {
    if (node.is_leaf()) {
      return node.leaf().items.size();
    }
    std::size_t count = 0;
    for (const auto& slot : node.inner().items) {
      count += slot.count;
    }
    return count;
  }
};

}  // namespace projections::persistent_tree_internal
