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
  if (recent_.size() == 0) {
    oldest_ = record.position;
  }
  recent_.Insert({record.position, record.payload});
  recent_bytes_ += record.payload.size();
  while (recent_.size() > 1 &&
         (recent_.size() > limits_.recent_entries || recent_bytes_ > limits_.recent_bytes)) {
    recent_bytes_ -= recent_.Erase(oldest_)->payload.size();
    oldest_ = engine::Next(oldest_);
  }
  return absl::OkStatus();
}

std::shared_ptr<const engine::ProjectionImage> AuditProjection::Publish() {
  auto trail = std::make_shared<AuditTrail>();
  trail->total_ = total_;
  trail->head_ = head_;
  trail->recent_ = recent_.Snapshot();
  return trail;
}

}  // namespace projections
