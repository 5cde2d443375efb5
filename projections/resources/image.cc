#include "projections/resources/image.h"

#include <algorithm>

#include "engine/base/bytes.h"
#include "engine/base/check.h"
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

template <typename Tree>
ListPage PageOf(const Range<Tree>& range, const ListOptions& options) {
  ListPage page;
  page.total = range.size();
  // A page far behind the end must not overflow into one that is there.
  const std::size_t before = options.page - 1;
  const std::size_t first =
      before > page.total / options.size ? page.total : std::min(page.total, before * options.size);
  const std::size_t last = first + std::min(options.size, page.total - first);
  if (first == last) {
    return page;
  }
  if (options.order == DefaultOrder()) {
    page.items = Gather(range, first, last);
    return page;
  }
  page.items = Gather(range, 0, page.total);
  const auto before_in_order = [&options](const ResourceEntry* a, const ResourceEntry* b) {
    return ComesBefore(*a, *b, options.order);
  };
  const auto begin = page.items.begin();
  std::nth_element(begin, begin + static_cast<std::ptrdiff_t>(first), page.items.end(),
                   before_in_order);
  page.items.erase(begin, begin + static_cast<std::ptrdiff_t>(first));
  std::partial_sort(page.items.begin(),
                    page.items.begin() + static_cast<std::ptrdiff_t>(last - first),
                    page.items.end(), before_in_order);
  page.items.resize(last - first);
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
  return WithRange(trees_, scope, [&options](const auto& range) { return PageOf(range, options); });
}

std::size_t ResourcesImage::Count(const ListScope& scope) const {
  return WithRange(trees_, scope, [](const auto& range) { return range.size(); });
}

std::vector<const ResourceEntry*> ResourcesImage::Children(std::string_view owner_id) const {
  const auto range = Equal(trees_.by_owner, IdProbe(owner_id));
  return Gather(range, 0, range.size());
}

}  // namespace projections
