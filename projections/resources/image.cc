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

// The part of an index that a list is over.
template <typename Tree>
struct Range {
  const Tree& tree;
  std::size_t first;
  std::size_t last;  // One behind.

  std::size_t size() const { return last - first; }
};

template <typename Tree>
Range<Tree> All(const Tree& tree) {
  return {tree, 0, tree.size()};
}
template <typename Tree, typename Probe>
Range<Tree> Equal(const Tree& tree, const Probe& probe) {
  return {tree, tree.CountBefore(probe), tree.CountThrough(probe)};
}

// Calls `use` with the range of `scope`: one index has it in one piece.
template <typename Use>
auto WithRange(const ResourceTrees<ImageTree>& trees, const ListScope& scope, const Use& use) {
  if (!scope.owner_id.empty()) {
    ENGINE_CHECK(!scope.kind.empty());
    return use(Equal(trees.by_owner, OwnerKindProbe(scope.owner_id, scope.kind)));
  }
  if (!scope.kind.empty()) {
    return use(Equal(trees.by_kind, KindProbe{scope.kind}));
  }
  return use(All(trees.by_age));
}

template <typename Tree>
std::vector<const ResourceEntry*> Gather(const Range<Tree>& range, std::size_t first,
                                         std::size_t last) {
  std::vector<const ResourceEntry*> entries;
  entries.reserve(last - first);
  auto at = range.tree.Select(range.first + first);
  for (std::size_t i = first; i < last; ++i, ++at) {
    entries.push_back(EntryIn(*at));
  }
  return entries;
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

template <typename Tree>
ListPage PageOf(const Range<Tree>& range, const ListOptions& options) {
  ListPage page;
  page.total = range.size();
  const Slice slice = SliceOf(page.total, options);
  if (slice.first == slice.last) {
    return page;
  }
  if (options.order == DefaultOrder()) {
    page.items = Gather(range, slice.first, slice.last);
    return page;
  }
  page.items = Gather(range, 0, page.total);
  KeepInOrder(slice, options.order, page.items);
  return page;
}

// Calls `use` with each entry of the range that the tenant sees.
template <typename Tree, typename Use>
void ForEachSeen(const Range<Tree>& range, const TenantScope& tenant, const Use& use) {
  auto at = range.tree.Select(range.first);
  for (std::size_t i = range.first; i < range.last; ++i, ++at) {
    if (GUARD("tenant.list", tenant.Sees(*EntryIn(*at)))) {
      use(EntryIn(*at));
    }
  }
}

template <typename Tree>
ListPage PageOfSeen(const Range<Tree>& range, const TenantScope& tenant,
                    const ListOptions& options) {
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
  return Gather(range, 0, range.size());
}

}  // namespace projections
