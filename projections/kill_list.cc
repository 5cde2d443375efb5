#include "projections/kill_list.h"

#include <optional>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/checksum.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "projections/saved_text.h"
#include "schemas/codec.h"
#include "schemas/killswitch_generated.h"

namespace projections {
namespace {

// What the digest is taken over, and what is saved.
std::string BytesOf(const Killed& killed) {
  std::string bytes;
  AppendText(killed.name, bytes);
  AppendText(killed.by, bytes);
  AppendText(killed.reason, bytes);
  engine::AppendU64(static_cast<std::uint64_t>(killed.at.micros), bytes);
  engine::AppendU64(engine::Raw(killed.position), bytes);
  return bytes;
}

std::uint64_t DigestOf(const Killed& killed) {
  return engine::Checksum64(BytesOf(killed));
}

constexpr std::size_t kPlaceBytes = 16;

std::optional<Killed> KilledOf(std::string_view bytes) {
  std::optional<std::string> name = TakeText(bytes);
  std::optional<std::string> by = TakeText(bytes);
  std::optional<std::string> reason = TakeText(bytes);
  if (!name || !by || !reason || bytes.size() != kPlaceBytes) {
    return std::nullopt;
  }
  return Killed{.name = *std::move(name),
                .by = *std::move(by),
                .reason = *std::move(reason),
                .at = {static_cast<std::int64_t>(engine::ReadU64(bytes))},
                .position = engine::Position{engine::ReadU64(bytes.substr(8))}};
}

}  // namespace

const Killed* KillList::Find(std::string_view name) const {
  const KilledPtr* found = killed_.Find(name);
  return found == nullptr ? nullptr : found->get();
}

std::uint64_t KillList::StateDigest() const {
  std::string bytes;
  engine::AppendU64(entries_digest_, bytes);
  engine::AppendU64(version_, bytes);
  return engine::Checksum64(bytes);
}

absl::Status KillList::Save(const engine::StatePartSink& sink) const {
  std::string head;
  engine::AppendU64(version_, head);
  engine::AppendU64(carried_, head);
  RETURN_IF_ERROR(sink(head));
  for (const KilledPtr& killed : killed_) {
    RETURN_IF_ERROR(sink(BytesOf(*killed)));
  }
  return absl::OkStatus();
}

KillListProjection::KillListProjection(std::uint64_t version_base)
    : version_base_(version_base), version_(version_base) {}

absl::Status KillListProjection::Apply(const engine::Record& record) {
  ASSIGN_OR_RETURN(const schemas::RecordView view, schemas::Decode(record.payload));
  const auto* kill = view.As<schemas::Kill>();
  if (kill == nullptr) {
    RETURN_IF_ERROR(schemas::RefuseUnlessSkippable(view));
    ++carried_;
  } else if (kill->state() == schemas::KillState::kKilled) {
    Put({.name = std::string(schemas::Text(kill->name())),
         .by = std::string(schemas::Text(kill->by())),
         .reason = std::string(schemas::Text(kill->reason())),
         .at = record.at,
         .position = record.position});
  } else if (GUARD("kill-list.state", kill->state() == schemas::KillState::kLive)) {
    Remove(schemas::Text(kill->name()));
  } else {
    return absl::DataLossError("the kill record has no state");
  }
  version_ = version_base_ + engine::Raw(record.position);
  return absl::OkStatus();
}

void KillListProjection::Put(Killed killed) {
  Remove(killed.name);
  auto entry = std::make_shared<const Killed>(std::move(killed));
  entries_digest_ += DigestOf(*entry);
  killed_.Insert(std::move(entry));
}

void KillListProjection::Remove(std::string_view name) {
  if (const std::optional<KilledPtr> removed = killed_.Erase(name)) {
    entries_digest_ -= DigestOf(**removed);
  }
}

std::shared_ptr<const engine::ProjectionImage> KillListProjection::Publish() {
  auto list = std::make_shared<ProvenKillList>();
  list->killed_ = killed_.Snapshot();
  list->entries_digest_ = entries_digest_;
  list->version_ = version_;
  list->carried_ = carried_;
  return list;
}

absl::Status KillListProjection::Load(std::string_view part) {
  if (!loading_) {
    if (part.size() != kPlaceBytes || engine::ReadU64(part) < version_base_) {
      return absl::DataLossError("this is no saved kill list, or one of another version base");
    }
    version_ = engine::ReadU64(part);
    carried_ = engine::ReadU64(part.substr(8));
    loading_ = true;
    return absl::OkStatus();
  }
  std::optional<Killed> killed = KilledOf(part);
  if (!killed.has_value()) {
    return absl::DataLossError("a saved kill is cut off");
  }
  Put(*std::move(killed));
  return absl::OkStatus();
}

void KillListProjection::Reset() {
  killed_.Clear();
  entries_digest_ = 0;
  version_ = version_base_;
  carried_ = 0;
  loading_ = false;
}

engine::Proposal ProposeKill(const KillRequest& request, const KillList& list,
                             engine::Footprint& footprint) {
  const std::string fact = "kill/" + request.name;
  footprint.Read(fact);
  if ((list.Find(request.name) != nullptr) == request.killed) {
    return {};
  }
  footprint.Write(fact);
  flatbuffers::FlatBufferBuilder body;
  const auto name = body.CreateString(request.name);
  const auto by = body.CreateString(request.by);
  flatbuffers::Offset<flatbuffers::String> reason;
  engine::AuditDraft audit{.actor = request.by,
                           .action = request.killed ? "experiment.kill" : "experiment.unkill",
                           .target = request.name};
  if (!request.reason.empty()) {
    reason = body.CreateString(request.reason);
    audit.details["reason"] = request.reason;
  }
  const auto state = request.killed ? schemas::KillState::kKilled : schemas::KillState::kLive;
  engine::Proposal proposal;
  proposal.records.push_back(
      {.stream = KillList::kStream,
       .key = {},
       .payload = schemas::Encode(body, schemas::CreateKill(body, name, state, by, reason))});
  proposal.audit = std::move(audit);
  return proposal;
}

}  // namespace projections
