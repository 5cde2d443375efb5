#include "projections/resources/image.h"

#include "engine/base/bytes.h"
#include "engine/base/status_macros.h"

namespace projections {
namespace {

const ResourceEntry* EntryIn(const OwnerKey& key) {
  return key.kind.age.entry;
}

const ResourceEntry* EntryIn(const TargetKey& key) {
  return key.source();
}

// All that is equal to the probe, in order.
template <typename Tree, typename Probe>
std::vector<const ResourceEntry*> Gather(const Tree& tree, const Probe& probe) {
  std::vector<const ResourceEntry*> entries;
  const auto behind = tree.UpperBound(probe);
  for (auto at = tree.LowerBound(probe); at != behind; ++at) {
    entries.push_back(EntryIn(*at));
  }
  return entries;
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

std::vector<const ResourceEntry*> ResourcesImage::Children(std::string_view owner_id) const {
  return Gather(trees_.by_owner, IdProbe(owner_id));
}

std::vector<const ResourceEntry*> ResourcesImage::Sources(std::string_view target_id) const {
  return Gather(trees_.by_target, IdProbe(target_id));
}

}  // namespace projections
