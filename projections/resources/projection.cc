#include "projections/resources/projection.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <absl/strings/str_format.h>

#include "engine/base/bytes.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "projections/digest_term.h"
#include "schemas/codec.h"

namespace projections {
namespace {

bool IsTombstone(const engine::Record& record) {
  return (record.flags & engine::RecordFlag::kTombstone) != 0;
}

absl::Status Wrong(const engine::Record& record, const char* what) {
  return absl::DataLossError(absl::StrFormat("resource \"%s\": %s", record.key, what));
}

bool SameName(EntryPtr a, EntryPtr b) {
  return NameKey(a).hash == NameKey(b).hash;
}

// Puts `keys` into the empty `tree`, in order: that fills its nodes.
template <typename Key, typename Less>
void FillWith(std::vector<Key> keys, PersistentTree<Key, Less>& tree) {
  std::sort(keys.begin(), keys.end(), Less{});
  for (const Key& key : keys) {
    tree.Insert(key);
  }
}

template <typename Key, typename Less>
void Fill(const std::vector<EntryPtr>& entries, PersistentTree<Key, Less>& tree) {
  std::vector<Key> keys;
  keys.reserve(entries.size());
  for (const EntryPtr entry : entries) {
    keys.push_back(Key(entry));
  }
  FillWith(std::move(keys), tree);
}

// Whether two entries of one id have the same places in the indexes, but for the one by name.
bool SamePlaces(EntryPtr a, EntryPtr b) {
  return a->kind() == b->kind() && a->owner_id() == b->owner_id() &&
         a->created_micros() == b->created_micros();
}

}  // namespace

absl::Status ResourcesProjection::Apply(const engine::Record& record) {
  ASSIGN_OR_RETURN(const schemas::RecordView view, schemas::Decode(record.payload));
  CountChange();
  if (const auto* resource = view.As<schemas::Resource>()) {
    return Put(record, *resource);
  }
  if (const auto* tombstone = view.As<schemas::ResourceTombstone>()) {
    return Remove(record, *tombstone);
  }
  RETURN_IF_ERROR(schemas::RefuseUnlessSkippable(view));
  return Skip(record);
}

// A record takes the place of the key's older ones, which compaction may remove. So one that says
// nothing to us cannot be about a resource that we have.
absl::Status ResourcesProjection::Skip(const engine::Record& record) const {
  if (!GUARD("resources.skip", trees_.by_id.Find(IdProbe(record.key)) == nullptr)) {
    return Wrong(record, "a record of an unknown type takes its place");
  }
  return absl::OkStatus();
}

absl::Status ResourcesProjection::Put(const engine::Record& record,
                                      const schemas::Resource& resource) {
  if (!GUARD("resources.key", schemas::Text(resource.id()) == record.key)) {
    return Wrong(record, "the record is of another resource than its key");
  }
  if (!GUARD("resources.generation", resource.generation() > 0)) {
    return Wrong(record, "its generation is not positive");
  }
  if (IsTombstone(record)) {
    return Wrong(record, "a state is marked as a tombstone");
  }
  const std::string& kind = *kinds_->emplace(schemas::Text(resource.kind())).first;
  Link(ResourceEntry::Make(record.payload, resource, kind, *spec_paths_, record.position,
                           DigestTerm(record.key, record.payload.view())));
  return absl::OkStatus();
}

absl::Status ResourcesProjection::Remove(const engine::Record& record,
                                         const schemas::ResourceTombstone& tombstone) {
  if (schemas::Text(tombstone.id()) != record.key || !IsTombstone(record)) {
    return Wrong(record, "the tombstone is of another resource than its key, or not marked");
  }
  if (tombstone.cause() == schemas::RemovalCause::kInvalid) {
    return Wrong(record, "the tombstone has no cause");
  }
  // After compaction there can be tombstones of which nothing else is left.
  if (const OwnedEntry* found = trees_.by_id.Find(IdProbe(record.key))) {
    const std::shared_ptr<const ResourceEntry> entry = found->entry;
    Unindex(entry.get());
    trees_.by_id.Erase(IdProbe(record.key));
    digest_ -= entry->digest();
    without_tenancy_ -= entry->has_tenancy() ? 0 : 1;
  }
  return absl::OkStatus();
}

void ResourcesProjection::Link(std::shared_ptr<const ResourceEntry> entry) {
  const EntryPtr added = entry.get();
  const IdProbe id(added->id());
  std::shared_ptr<const ResourceEntry> old;  // Must outlive its places in the indexes.
  if (const OwnedEntry* found = trees_.by_id.Find(id)) {
    old = found->entry;
    digest_ -= old->digest();
    without_tenancy_ -= old->has_tenancy() ? 0 : 1;
  }
  digest_ += added->digest();
  without_tenancy_ += added->has_tenancy() ? 0 : 1;
  trees_.by_id.Insert({id.hint, std::move(entry)});
  if (old == nullptr) {
    Index(added);
  } else {
    Reindex(old.get(), added);
  }
}

void ResourcesProjection::Index(EntryPtr entry) {
  if (upkeep_.given_up()) {
    return;
  }
  trees_.by_age.Insert(AgeKey(entry));
  trees_.by_kind.Insert(KindKey(entry));
  if (!entry->is_root()) {
    trees_.by_owner.Insert(OwnerKey(entry));
  }
  if (!entry->is_deleting()) {
    trees_.by_name.Insert(NameKey(entry));
  }
  for (std::uint32_t i = 0; i < ReferenceCount(entry); ++i) {
    trees_.by_target.Insert(TargetKey(entry, i));
  }
  for (const std::uint64_t mark : MarksOf(*entry)) {
    trees_.by_mark.Insert(MarkKey(mark, entry));
  }
}

void ResourcesProjection::UnindexReferences(EntryPtr entry) {
  for (std::uint32_t i = 0; i < ReferenceCount(entry); ++i) {
    trees_.by_target.Erase(TargetKey(entry, i));
  }
}

void ResourcesProjection::UnindexMarks(EntryPtr entry, const std::vector<std::uint64_t>& but) {
  for (const std::uint64_t mark : MarksOf(*entry)) {
    if (!std::ranges::binary_search(but, mark)) {
      trees_.by_mark.Erase(MarkKey(mark, entry));
    }
  }
}

void ResourcesProjection::Unindex(EntryPtr entry) {
  if (upkeep_.given_up()) {
    return;
  }
  trees_.by_age.Erase(AgeKey(entry));
  trees_.by_kind.Erase(KindKey(entry));
  if (!entry->is_root()) {
    trees_.by_owner.Erase(OwnerKey(entry));
  }
  if (!entry->is_deleting()) {
    trees_.by_name.Erase(NameKey(entry));
  }
  UnindexReferences(entry);
  UnindexMarks(entry, {});
}

void ResourcesProjection::Reindex(EntryPtr old, EntryPtr added) {
  if (upkeep_.given_up()) {
    return;
  }
  if (!SamePlaces(old, added)) {
    Unindex(old);
  } else {
    UnindexReferences(old);
    UnindexMarks(old, MarksOf(*added));
    if (!old->is_deleting() && (added->is_deleting() || !SameName(old, added))) {
      trees_.by_name.Erase(NameKey(old));
    }
  }
  // Where the place is the same one, the new entry takes it.
  Index(added);
}

void ResourcesProjection::CountChange() {
  if (!upkeep_.GivesUp(trees_.by_id.size())) {
    return;
  }
  trees_.by_age.Clear();
  trees_.by_kind.Clear();
  trees_.by_owner.Clear();
  trees_.by_name.Clear();
  trees_.by_target.Clear();
  trees_.by_mark.Clear();
}

void ResourcesProjection::BuildIndexes() {
  std::vector<EntryPtr> all;
  std::vector<EntryPtr> children;
  std::vector<EntryPtr> active;
  std::vector<TargetKey> references;
  std::vector<MarkKey> marks;
  const auto by_id = trees_.by_id.Snapshot();
  all.reserve(by_id.size());
  for (const OwnedEntry& owned : by_id) {
    const EntryPtr entry = owned.entry.get();
    all.push_back(entry);
    if (!entry->is_root()) {
      children.push_back(entry);
    }
    if (!entry->is_deleting()) {
      active.push_back(entry);
    }
    for (std::uint32_t i = 0; i < ReferenceCount(entry); ++i) {
      references.push_back(TargetKey(entry, i));
    }
    for (const std::uint64_t mark : MarksOf(*entry)) {
      marks.emplace_back(mark, entry);
    }
  }
  Fill(all, trees_.by_age);
  Fill(all, trees_.by_kind);
  Fill(children, trees_.by_owner);
  Fill(active, trees_.by_name);
  FillWith(std::move(references), trees_.by_target);
  FillWith(std::move(marks), trees_.by_mark);
}

absl::Status ResourcesProjection::Load(std::string_view part) {
  if (part.size() < sizeof(std::uint64_t)) {
    return absl::DataLossError("a saved resource is cut off");
  }
  engine::Record record;
  record.stream = stream();
  record.position = engine::Position{engine::ReadU64(part)};
  record.payload = engine::Payload(part.substr(sizeof(std::uint64_t)));
  ASSIGN_OR_RETURN(const auto* resource, schemas::DecodeAs<schemas::Resource>(record.payload));
  record.key = schemas::Text(resource->id());
  CountChange();
  return Put(record, *resource);
}

void ResourcesProjection::Reset() {
  // The other trees point into what the one by id owns.
  trees_.by_age.Clear();
  trees_.by_kind.Clear();
  trees_.by_owner.Clear();
  trees_.by_name.Clear();
  trees_.by_target.Clear();
  trees_.by_mark.Clear();
  trees_.by_id.Clear();
  digest_ = 0;
  without_tenancy_ = 0;
  upkeep_ = {};
}

std::shared_ptr<const engine::ProjectionImage> ResourcesProjection::Publish() {
  if (upkeep_.given_up()) {
    BuildIndexes();
  }
  upkeep_.Published();
  return std::make_shared<const ResourcesImage>(
      ResourceTrees<ImageTree>{trees_.by_id.Snapshot(), trees_.by_age.Snapshot(),
                               trees_.by_kind.Snapshot(), trees_.by_owner.Snapshot(),
                               trees_.by_name.Snapshot(), trees_.by_target.Snapshot(),
                               trees_.by_mark.Snapshot()},
      kinds_, spec_paths_, digest_, without_tenancy_);
}

}  // namespace projections
