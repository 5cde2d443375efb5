#include "projections/kill_list.h"

#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/checksum.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "schemas/codec.h"
#include "schemas/killswitch_generated.h"

namespace projections {
namespace {

void AppendText(std::string_view text, std::string& bytes) {
  engine::AppendU32(static_cast<std::uint32_t>(text.size()), bytes);
  bytes += text;
}

std::uint64_t DigestOf(const Killed& killed) {
  std::string bytes;
  AppendText(killed.name, bytes);
  AppendText(killed.by, bytes);
  AppendText(killed.reason, bytes);
  engine::AppendU64(static_cast<std::uint64_t>(killed.at.micros), bytes);
  engine::AppendU64(engine::Raw(killed.position), bytes);
  return engine::Checksum64(bytes);
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

KillListProjection::KillListProjection(std::uint64_t version_base)
    : version_base_(version_base), version_(version_base) {}

absl::Status KillListProjection::Apply(const engine::Record& record) {
  ASSIGN_OR_RETURN(const schemas::RecordView view, schemas::Decode(record.payload));
  const auto* kill = view.As<schemas::Kill>();
  if (kill == nullptr) {
    RETURN_IF_ERROR(schemas::RefuseUnlessSkippable(view));
    ++carried_;
  } else if (kill->state() == schemas::KillState::kKilled) {
    Put(*kill, record);
  } else if (GUARD("kill-list.state", kill->state() == schemas::KillState::kLive)) {
    Remove(schemas::Text(kill->name()));
  } else {
    return absl::DataLossError("the kill record has no state");
  }
  version_ = version_base_ + engine::Raw(record.position);
  return absl::OkStatus();
}

void KillListProjection::Put(const schemas::Kill& kill, const engine::Record& record) {
  const std::string_view name = schemas::Text(kill.name());
  Remove(name);
  auto entry =
      std::make_shared<const Killed>(Killed{.name = std::string(name),
                                            .by = std::string(schemas::Text(kill.by())),
                                            .reason = std::string(schemas::Text(kill.reason())),
                                            .at = record.at,
                                            .position = record.position});
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
