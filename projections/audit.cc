#include "projections/audit.h"

#include <algorithm>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/bytes.h"
#include "engine/base/checksum.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"

namespace projections {
namespace {

absl::Status Broken(const engine::Record& record, std::string_view what) {
  return absl::DataLossError(
      absl::StrFormat("audit entry %d: %s", engine::Raw(record.position), what));
}

}  // namespace

std::uint64_t AuditTrail::StateDigest() const {
  std::string bytes;
  engine::AppendU64(total_, bytes);
  bytes += head_;
  return engine::Checksum64(bytes);
}

absl::Status AuditTrail::Save(const engine::StatePartSink& sink) const {
  std::string head;
  engine::AppendU64(total_, head);
  head += head_;
  RETURN_IF_ERROR(sink(head));
  for (const RecentEntry& entry : recent_) {
    std::string part;
    engine::AppendU64(engine::Raw(entry.seq), part);
    part += entry.payload.view();
    RETURN_IF_ERROR(sink(part));
  }
  return absl::OkStatus();
}

absl::Status AuditProjection::Verify(const engine::Record& record) const {
  const absl::StatusOr<engine::AuditEntry> entry = engine::DecodeAuditEntry(record.payload.view());
  if (!entry.ok()) {
    const auto message = entry.status().message();
    return Broken(record, std::string_view(message.data(), message.size()));
  }
  if (!GUARD("audit.seq", entry->seq == record.position)) {
    return Broken(record, absl::StrFormat("its seq is %d", engine::Raw(entry->seq)));
  }
  if (!GUARD("audit.prev", entry->prev == head_)) {
    return Broken(record, "its prev is not the hash of the entry before");
  }
  return absl::OkStatus();
}

absl::Status AuditProjection::Apply(const engine::Record& record) {
  RETURN_IF_ERROR(Verify(record));
  head_ = engine::AuditHash(record.payload.view());
  total_ = engine::Raw(record.position);
  Remember(record.position, record.payload);
  return absl::OkStatus();
}

void AuditProjection::Remember(engine::Position seq, engine::Payload payload) {
  if (recent_.size() == 0) {
    oldest_ = seq;
  }
  recent_bytes_ += payload.size();
  recent_.Insert({seq, std::move(payload)});
  while (recent_.size() > 1 &&
         (recent_.size() > limits_.recent_entries || recent_bytes_ > limits_.recent_bytes)) {
    recent_bytes_ -= recent_.Erase(oldest_)->payload.size();
    oldest_ = engine::Next(oldest_);
  }
}

absl::Status AuditProjection::Load(std::string_view part) {
  if (part.size() < sizeof(std::uint64_t)) {
    return absl::DataLossError("a part of a saved audit trail is cut off");
  }
  if (loading_) {
    return LoadEntry(part);
  }
  total_ = engine::ReadU64(part);
  head_ = part.substr(sizeof(std::uint64_t));
  loading_ = true;
  return absl::OkStatus();
}

// The entries end with the head, so each has to be the one that its hash says it is.
absl::Status AuditProjection::LoadEntry(std::string_view part) {
  const engine::Position seq{engine::ReadU64(part)};
  const engine::Payload payload(part.substr(sizeof(std::uint64_t)));
  const bool last = engine::Raw(seq) == total_;
  const bool follows =
      recent_.size() == 0 || engine::Raw(seq) == engine::Raw(oldest_) + recent_.size();
  if (!follows || engine::Raw(seq) > total_ ||
      (last && engine::AuditHash(payload.view()) != head_)) {
    return absl::DataLossError(
        absl::StrFormat("the saved audit entry %d is not one of the chain", engine::Raw(seq)));
  }
  Remember(seq, payload);
  return absl::OkStatus();
}

void AuditProjection::Reset() {
  total_ = 0;
  head_.clear();
  recent_.Clear();
  oldest_ = engine::Position::kBeforeFirst;
  recent_bytes_ = 0;
  loading_ = false;
}

std::shared_ptr<const engine::ProjectionImage> AuditProjection::Publish() {
  auto trail = std::make_shared<AuditTrail>();
  trail->total_ = total_;
  trail->head_ = head_;
  trail->recent_ = recent_.Snapshot();
  return trail;
}

}  // namespace projections
