#include "projections/resources/image.h"

#include <algorithm>

#include "engine/base/bytes.h"
#include "engine/base/check.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"

namespace projections {
namespace {

const ResourceEntry* EntryIn(const AgeKey& key) {
  return key.entry;
}
const ResourceEntry* EntryIn(const KindKey& key) {
  return key.age.entry;
}
const ResourceEntry* EntryIn(const OwnerKey& key) {
  return key.kind.age.entry;
}

const ResourceEntry* EntryIn(const TargetKey& key) {
  return key.source();
}

using Entries = std::vector<const ResourceEntry*>;

// The part of an index that a list is over.
template <typename Tree>
struct Range {
  const Tree& tree;
  std::size_t first;
  std::size_t last;  // One behind.

  std::size_t size() const { return last - first; }
  // The entries at the places from `from` to one before `to`.
  Entries Gather(std::size_t from, std::size_t to) const {
    Entries entries;
    entries.reserve(to - from);
    auto at = tree.Select(first + from);
    for (std::size_t i = from; i < to; ++i, ++at) {
      entries.push_back(EntryIn(*at));
    }
    return entries;
  }
  template <typename Use>
  void ForEach(const Use& use) const {
    auto at = tree.Select(first);
    for (std::size_t i = first; i < last; ++i, ++at) {
      use(EntryIn(*at));
    }
  }
};

// What had to be picked out of an index, newest first.
struct Picked {
  Entries entries;

  std::size_t size() const { return entries.size(); }
  Entries Gather(std::size_t from, std::size_t to) const {
    return {entries.begin() + static_cast<std::ptrdiff_t>(from),
            entries.begin() + static_cast<std::ptrdiff_t>(to)};
  }
  template <typename Use>
  void ForEach(const Use& use) const {
    std::ranges::for_each(entries, use);
  }
};

template <typename Tree>
Range<Tree> All(const Tree& tree) {
  return {tree, 0, tree.size()};
}
template <typename Tree, typename Probe>
Range<Tree> Equal(const Tree& tree, const Probe& probe) {
  return {tree, tree.CountBefore(probe), tree.CountThrough(probe)};
}

// The children of one owner among the sources of one target.
Picked SourcesUnder(const ResourceTrees<ImageTree>& trees, const ListScope& scope) {
  const auto sources =
      Equal(trees.by_target, SourceProbe(scope.ref_target_id, scope.kind, scope.ref_type));
  Picked picked{sources.Gather(0, sources.size())};
  std::erase_if(picked.entries, [&scope](const ResourceEntry* entry) {
    return entry->owner_id() != scope.owner_id;
  });
  return picked;
}

// Calls `use` with what `scope` covers, whoever asks: one index has it in one piece, unless it is
// both below an owner and what refers to a target.
template <typename Use>
auto WithRange(const ResourceTrees<ImageTree>& trees, const ListScope& scope, const Use& use) {
  if (!scope.ref_target_id.empty()) {
    ENGINE_CHECK(!scope.kind.empty());
    if (!scope.owner_id.empty()) {
      return use(SourcesUnder(trees, scope));
    }
    return use(
        Equal(trees.by_target, SourceProbe(scope.ref_target_id, scope.kind, scope.ref_type)));
  }
  if (!scope.owner_id.empty()) {
    ENGINE_CHECK(!scope.kind.empty());
    return use(Equal(trees.by_owner, OwnerKindProbe(scope.owner_id, scope.kind)));
  }
  if (!scope.kind.empty()) {
    return use(Equal(trees.by_kind, KindProbe{scope.kind}));
  }
  return use(All(trees.by_age));
}

// Where a page begins and ends in a list of `total` items.
struct Slice {
  std::size_t first;
  std::size_t last;  // One behind.
};
Slice SliceOf(std::size_t total, const ListOptions& options) {
  // A page far behind the end must not overflow into one that is there.
  const std::size_t before = options.page - 1;
  const std::size_t first =
      before > total / options.size ? total : std::min(total, before * options.size);
  return {first, first + std::min(options.size, total - first)};
}

// Leaves the slice of `items` as it is once they are in the order.
void KeepInOrder(const Slice& slice, const Order& order, std::vector<const ResourceEntry*>& items) {
  const auto before_in_order = [&order](const ResourceEntry* a, const ResourceEntry* b) {
    return ComesBefore(*a, *b, order);
  };
  const auto at = [&items](std::size_t i) {
    return items.begin() + static_cast<std::ptrdiff_t>(i);
  };
  std::nth_element(items.begin(), at(slice.first), items.end(), before_in_order);
  items.erase(items.begin(), at(slice.first));
  const std::size_t size = slice.last - slice.first;
  std::partial_sort(items.begin(), at(size), items.end(), before_in_order);
  items.resize(size);
}

template <typename Rows>
ListPage PageOf(const Rows& range, const ListOptions& options) {
  ListPage page;
  page.total = range.size();
  const Slice slice = SliceOf(page.total, options);
  if (slice.first == slice.last) {
    return page;
  }
  if (options.order == DefaultOrder()) {
    page.items = range.Gather(slice.first, slice.last);
    return page;
  }
  page.items = range.Gather(0, page.total);
  KeepInOrder(slice, options.order, page.items);
  return page;
}

// Calls `use` with each entry of the range that the tenant sees.
template <typename Rows, typename Use>
void ForEachSeen(const Rows& range, const TenantScope& tenant, const Use& use) {
  range.ForEach([&tenant, &use](const ResourceEntry* entry) {
    if (GUARD("tenant.list", tenant.Sees(*entry))) {
      use(entry);
    }
  });
}

template <typename Rows>
ListPage PageOfSeen(const Rows& range, const TenantScope& tenant, const ListOptions& options) {
  ListPage page;
  ForEachSeen(range, tenant, [&page](EntryPtr entry) { page.items.push_back(entry); });
  page.total = page.items.size();
  const Slice slice = SliceOf(page.total, options);
  if (slice.first == slice.last) {
    page.items.clear();
  } else if (options.order == DefaultOrder()) {
    page.items = std::vector<const ResourceEntry*>(
        page.items.begin() + static_cast<std::ptrdiff_t>(slice.first),
        page.items.begin() + static_cast<std::ptrdiff_t>(slice.last));
  } else {
    KeepInOrder(slice, options.order, page.items);
  }
  return page;
}

}  // namespace

const ResourceEntry* ResourcesImage::Find(std::string_view id) const {
  const OwnedEntry* found = trees_.by_id.Find(IdProbe(id));
  return found == nullptr ? nullptr : found->entry.get();
}

const ResourceEntry* ResourcesImage::FindNamed(const NameProbe& name) const {
  const HashedName hashed(name);
  const auto behind = trees_.by_name.UpperBound(hashed);
  for (auto at = trees_.by_name.LowerBound(hashed); at != behind; ++at) {
    if (HasName(*at->entry, name)) {
      return at->entry;
    }
  }
  return nullptr;
}

absl::Status ResourcesImage::Save(const engine::StatePartSink& sink) const {
  std::string part;
  for (const OwnedEntry& owned : trees_.by_id) {
    part.clear();
    engine::AppendU64(engine::Raw(owned.entry->position()), part);
    part += owned.entry->payload().view();
    RETURN_IF_ERROR(sink(part));
  }
  return absl::OkStatus();
}

ListPage ResourcesImage::List(const ListScope& scope, const ListOptions& options) const {
  ENGINE_CHECK(options.page > 0);
  ENGINE_CHECK(options.size > 0);
  return WithRange(trees_, scope, [&scope, &options](const auto& range) {
    return scope.tenant.is_all() ? PageOf(range, options)
                                 : PageOfSeen(range, scope.tenant, options);
  });
}

std::size_t ResourcesImage::Count(const ListScope& scope) const {
  return WithRange(trees_, scope, [&scope](const auto& range) {
    if (scope.tenant.is_all()) {
      return range.size();
    }
    std::size_t count = 0;
    ForEachSeen(range, scope.tenant, [&count](EntryPtr) { ++count; });
    return count;
  });
}

std::vector<const ResourceEntry*> ResourcesImage::Children(std::string_view owner_id) const {
  const auto range = Equal(trees_.by_owner, IdProbe(owner_id));
  return range.Gather(0, range.size());
}

std::vector<const ResourceEntry*> ResourcesImage::Sources(std::string_view target_id) const {
  const auto range = Equal(trees_.by_target, IdProbe(target_id));
  return range.Gather(0, range.size());
}

}  // namespace projections
