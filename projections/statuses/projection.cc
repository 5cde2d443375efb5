#include "projections/statuses/projection.h"

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include <absl/strings/str_format.h>

#include "engine/base/bytes.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "projections/digest_term.h"
#include "projections/statuses/keys.h"

namespace projections {
namespace {

bool IsTombstone(const engine::Record& record) {
  return (record.flags & engine::RecordFlag::kTombstone) != 0;
}

absl::Status Wrong(const engine::Record& record, const char* what) {
  return absl::DataLossError(absl::StrFormat("status \"%s\": %s", record.key, what));
}

template <typename Conditions>
bool HaveStatuses(const Conditions& conditions) {
  return std::ranges::none_of(conditions, [](const auto* condition) {
    return condition->status() == schemas::ConditionStatus::kInvalid;
  });
}

// A state, of a key that is its own.
template <typename Table>
absl::Status CheckState(const engine::Record& record, const Table& table, std::string_view key) {
  if (!GUARD("statuses.key", key == record.key)) {
    return Wrong(record, "the record is of another resource or adapter than its key");
  }
  if (!GUARD("statuses.condition", HaveStatuses(*table.conditions()))) {
    return Wrong(record, "a condition has no status");
  }
  if (IsTombstone(record)) {
    return Wrong(record, "a state is marked as a tombstone");
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status StatusesProjection::Apply(const engine::Record& record) {
  ASSIGN_OR_RETURN(const schemas::RecordView view, schemas::Decode(record.payload));
  CountChange();
  if (const auto* tombstone = view.As<schemas::StatusTombstone>()) {
    return Remove(record, *tombstone);
  }
  return Fold(record, view);
}

absl::Status StatusesProjection::Fold(const engine::Record& record,
                                      const schemas::RecordView& view) {
  if (const auto* status = view.As<schemas::ResourceStatus>()) {
    return Put(record, *status);
  }
  if (const auto* report = view.As<schemas::AdapterReport>()) {
    return Put(record, *report);
  }
  RETURN_IF_ERROR(schemas::RefuseUnlessSkippable(view));
  return Skip(record);
}

// A record takes the place of the key's older ones, which compaction may remove. So one that says
// nothing to us cannot be about something that we have.
absl::Status StatusesProjection::Skip(const engine::Record& record) const {
  const std::string_view key = record.key;
  const std::size_t slash = key.find('/');
  const bool known = slash == std::string_view::npos
                         ? trees_.statuses.Find(IdProbe(key)) != nullptr
                         : trees_.reports.Find(
                               ReportProbe(key.substr(0, slash), key.substr(slash + 1))) != nullptr;
  if (!GUARD("statuses.skip", !known)) {
    return Wrong(record, "a record of an unknown type takes its place");
  }
  return absl::OkStatus();
}

absl::Status StatusesProjection::Put(const engine::Record& record,
                                     const schemas::ResourceStatus& status) {
  RETURN_IF_ERROR(CheckState(record, status, schemas::Text(status.resource_id())));
  auto added = std::make_shared<const StatusEntry>(record.payload, status, record.position,
                                                   DigestTerm(record.key, record.payload.view()));
  const IdProbe id(added->resource_id());
  std::shared_ptr<const StatusEntry> old;  // Must outlive its places in the index.
  if (const OwnedStatus* found = trees_.statuses.Find(id)) {
    old = found->entry;
    digest_ -= old->digest();
    Unindex(*old);
  }
  digest_ += added->digest();
  const StatusEntry& entry = *added;
  trees_.statuses.Insert({id.hint, std::move(added)});
  Index(entry);
  return absl::OkStatus();
}

absl::Status StatusesProjection::Put(const engine::Record& record,
                                     const schemas::AdapterReport& report) {
  const std::string_view id = schemas::Text(report.resource_id());
  const std::string_view adapter = schemas::Text(report.adapter());
  RETURN_IF_ERROR(CheckState(record, report, ReportKey(id, adapter)));
  if (!GUARD("statuses.generation", report.observed_generation() > 0)) {
    return Wrong(record, "its generation is not positive");
  }
  auto added = std::make_shared<const ReportEntry>(record.payload, report, record.position,
                                                   DigestTerm(record.key, record.payload.view()));
  if (const OwnedReport* found = trees_.reports.Find(ReportProbe(id, adapter))) {
    digest_ -= found->entry->digest();
  }
  digest_ += added->digest();
  trees_.reports.Insert({IdProbe::HintOf(id), std::move(added)});
  return absl::OkStatus();
}

// After compaction there can be tombstones of which nothing else is left.
absl::Status StatusesProjection::Remove(const engine::Record& record,
                                        const schemas::StatusTombstone& tombstone) {
  const std::string_view id = schemas::Text(tombstone.resource_id());
  const flatbuffers::String* adapter = tombstone.adapter();
  const std::string key =
      adapter == nullptr ? std::string(id) : ReportKey(id, schemas::Text(adapter));
  if (key != record.key || !IsTombstone(record)) {
    return Wrong(record, "the tombstone is of another key, or not marked");
  }
  if (adapter != nullptr) {
    if (const auto gone = trees_.reports.Erase(ReportProbe(id, schemas::Text(adapter)))) {
      digest_ -= gone->entry->digest();
    }
  } else if (const OwnedStatus* found = trees_.statuses.Find(IdProbe(id))) {
    Unindex(*found->entry);
    digest_ -= found->entry->digest();
    trees_.statuses.Erase(IdProbe(id));
  }
  return absl::OkStatus();
}

// Of two conditions of one type the first counts, as for StatusEntry::FindCondition.
std::vector<ConditionKey> StatusesProjection::KeysOf(const StatusEntry& entry) {
  std::vector<ConditionKey> keys;
  for (const schemas::ResourceCondition* condition : *entry.table().conditions()) {
    const std::string_view type = schemas::Text(condition->type());
    auto shared = types_->find(type);
    if (shared == types_->end()) {
      shared = types_->emplace(type).first;
    }
    if (GUARD("statuses.type-once",
              std::ranges::find(keys, &*shared, &ConditionKey::type) == keys.end())) {
      keys.push_back({&*shared, condition->status(), condition->last_updated_time(), &entry});
    }
  }
  return keys;
}

void StatusesProjection::Index(const StatusEntry& entry) {
  if (upkeep_.given_up()) {
    return;
  }
  for (const ConditionKey& key : KeysOf(entry)) {
    trees_.conditions.Insert(key);
  }
}

void StatusesProjection::Unindex(const StatusEntry& entry) {
  if (upkeep_.given_up()) {
    return;
  }
  for (const ConditionKey& key : KeysOf(entry)) {
    trees_.conditions.Erase(key);
  }
}

void StatusesProjection::CountChange() {
  if (!upkeep_.GivesUp(trees_.statuses.size())) {
    return;
  }
  trees_.conditions.Clear();
}

void StatusesProjection::BuildIndex() {
  std::vector<ConditionKey> keys;
  for (const OwnedStatus& owned : trees_.statuses.Snapshot()) {
    std::ranges::move(KeysOf(*owned.entry), std::back_inserter(keys));
  }
  std::sort(keys.begin(), keys.end(), ByCondition{});  // In order, they fill the tree's nodes.
  for (const ConditionKey& key : keys) {
    trees_.conditions.Insert(key);
  }
}

absl::Status StatusesProjection::Load(std::string_view part) {
  if (part.size() < sizeof(std::uint64_t)) {
    return absl::DataLossError("a saved status is cut off");
  }
  engine::Record record;
  record.stream = stream();
  record.position = engine::Position{engine::ReadU64(part)};
  record.payload = engine::Payload(part.substr(sizeof(std::uint64_t)));
  ASSIGN_OR_RETURN(const schemas::RecordView view, schemas::Decode(record.payload));
  if (const auto* status = view.As<schemas::ResourceStatus>()) {
    record.key = schemas::Text(status->resource_id());
  } else if (const auto* report = view.As<schemas::AdapterReport>()) {
    record.key = ReportKey(schemas::Text(report->resource_id()), schemas::Text(report->adapter()));
  } else {
    return absl::DataLossError("a saved status is of another type");
  }
  CountChange();
  return Fold(record, view);
}

void StatusesProjection::Reset() {
  // The index points into what the statuses own.
  trees_.conditions.Clear();
  trees_.statuses.Clear();
  trees_.reports.Clear();
  digest_ = 0;
  upkeep_ = {};
}

std::shared_ptr<const engine::ProjectionImage> StatusesProjection::Publish() {
  if (upkeep_.given_up()) {
    BuildIndex();
  }
  upkeep_.Published();
  return std::make_shared<const StatusesImage>(
      StatusTrees<StatusImageTree>{trees_.statuses.Snapshot(), trees_.reports.Snapshot(),
                                   trees_.conditions.Snapshot()},
      types_, digest_);
}

}  // namespace projections
