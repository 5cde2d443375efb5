#include "projections/resources/projection.h"

#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/bytes.h"
#include "engine/base/checksum.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "schemas/codec.h"

namespace projections {
namespace {

std::uint64_t DigestTerm(std::string_view key, std::string_view payload) {
  std::string bytes;
  bytes.reserve(key.size() + 20);
  engine::AppendU32(static_cast<std::uint32_t>(key.size()), bytes);
  bytes.append(key);
  engine::AppendU64(payload.size(), bytes);
  engine::AppendU64(engine::Checksum64(payload), bytes);
  return engine::Checksum64(bytes);
}

bool IsTombstone(const engine::Record& record) {
  return (record.flags & engine::RecordFlag::kTombstone) != 0;
}

absl::Status Wrong(const engine::Record& record, const char* what) {
  return absl::DataLossError(absl::StrFormat("resource \"%s\": %s", record.key, what));
}

// Whether two entries of one id have the same place in every index.
bool SamePlaces(EntryPtr a, EntryPtr b) {
  return a->kind() == b->kind() && a->owner_id() == b->owner_id() &&
         a->created_micros() == b->created_micros();
}

}  // namespace

absl::Status ResourcesProjection::Apply(const engine::Record& record) {
  ASSIGN_OR_RETURN(const schemas::RecordView view, schemas::Decode(record.payload));
  if (const auto* resource = view.As<schemas::Resource>()) {
    return Put(record, *resource);
  }
  if (const auto* tombstone = view.As<schemas::ResourceTombstone>()) {
    return Remove(record, *tombstone);
  }
  RETURN_IF_ERROR(schemas::RefuseUnlessSkippable(view));
  Skip(record);
  return absl::OkStatus();
}

// The state stays, but the key's newest record is this one.
void ResourcesProjection::Skip(const engine::Record& record) {
  if (const OwnedEntry* found = trees_.by_id.Find(IdProbe(record.key))) {
    const ResourceEntry& entry = *found->entry;
    Link(std::make_shared<const ResourceEntry>(entry.payload(), entry.table(), entry.kind(),
                                               record.position, entry.digest()));
  }
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
  const std::string_view kind = *kinds_->emplace(schemas::Text(resource.kind())).first;
  Link(std::make_shared<const ResourceEntry>(record.payload, resource, kind, record.position,
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
    Unlink(entry.get());
    trees_.by_id.Erase(IdProbe(record.key));
    digest_ -= entry->digest();
  }
  return absl::OkStatus();
}

void ResourcesProjection::Unlink(EntryPtr entry) {
  trees_.by_age.Erase(entry);
  trees_.by_kind.Erase(entry);
  if (!entry->is_root()) {
    trees_.by_owner.Erase(entry);
  }
  if (!entry->is_deleting()) {
    trees_.by_name.Erase(entry);
  }
}

void ResourcesProjection::Link(std::shared_ptr<const ResourceEntry> entry) {
  const EntryPtr added = entry.get();
  const IdProbe id(added->id());
  std::shared_ptr<const ResourceEntry> old;
  if (const OwnedEntry* found = trees_.by_id.Find(id)) {
    old = found->entry;
    digest_ -= old->digest();
    if (!SamePlaces(old.get(), added)) {
      Unlink(old.get());
    } else if (!old->is_deleting()) {
      trees_.by_name.Erase(old.get());
    }
  }
  digest_ += added->digest();
  trees_.by_id.Insert({id.hint, std::move(entry)});
  trees_.by_age.Insert(added);
  trees_.by_kind.Insert(added);
  if (!added->is_root()) {
    trees_.by_owner.Insert(added);
  }
  if (!added->is_deleting()) {
    trees_.by_name.Insert(added);
  }
}

std::shared_ptr<const engine::ProjectionImage> ResourcesProjection::Publish() {
  return std::make_shared<const ResourcesImage>(
      ResourceTrees<ImageTree>{trees_.by_id.Snapshot(), trees_.by_age.Snapshot(),
                               trees_.by_kind.Snapshot(), trees_.by_owner.Snapshot(),
                               trees_.by_name.Snapshot()},
      kinds_, digest_);
}

}  // namespace projections
