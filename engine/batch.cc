#include "engine/batch.h"

#include <algorithm>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/check.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"

namespace engine {

Batch::Verdict Batch::Judge(PendingCommand& pending, const View& view, const LockedState& state) {
  if (!GUARD("committer.deadline", !pending.command->deadline().HasPassed())) {
    pending.command->Finish({CommandOutcome::Kind::kFailed,
                             absl::DeadlineExceededError("the deadline passed in the queue"),
                             Tx::kBeforeFirst,
                             {}});
    return Verdict::kFinished;
  }
  if (kept_.size() >= limits_.commands || bytes_ >= limits_.bytes) {
    return Verdict::kDeferred;
  }
  if (changed_.Touch(pending.last)) {
    return Verdict::kDeferred;
  }
  Footprint footprint;
  Proposal proposal = pending.command->Decide({view, state.now, footprint});
  // A refusal rests on the view, which is committed state, only while nothing it read was changed
  // by an earlier command of this batch.
  if (!GUARD("committer.conflict", !changed_.Touch(footprint))) {
    pending.last = std::move(footprint);
    return Verdict::kDeferred;
  }
  if (proposal.records.empty()) {
    pending.command->Finish({CommandOutcome::Kind::kNothing, {}, Tx::kBeforeFirst, {}});
    return Verdict::kFinished;
  }
  const Verdict verdict = Keep(pending, std::move(proposal), state);
  if (verdict == Verdict::kKept) {
    changed_.Add(footprint);
  }
  return verdict;
}

Batch::Verdict Batch::Keep(PendingCommand& pending, Proposal proposal, const LockedState& state) {
  if (kept_.empty()) {
    tails_ = state.tails;
    tx_ = Next(state.last_tx);
  }
  const std::size_t first_row = rows_.size();
  const std::size_t bytes_before = bytes_;
  const std::vector<StreamTail> tails_before = tails_;
  const absl::Status sealed = Seal(std::move(proposal), state);
  if (sealed.ok()) {
    kept_.push_back({std::move(pending), first_row, rows_.size() - first_row});
    return Verdict::kKept;
  }
  rows_.resize(first_row);
  bytes_ = bytes_before;
  tails_ = tails_before;
  if (absl::IsResourceExhausted(sealed) && !kept_.empty()) {
    return Verdict::kDeferred;  // Too large for what room is left, perhaps not for a whole batch.
  }
  pending.command->Finish({CommandOutcome::Kind::kFailed, sealed, Tx::kBeforeFirst, {}});
  return Verdict::kFinished;
}

Deadline Batch::LatestDeadline() const {
  Deadline latest = kept_.front().pending.command->deadline();
  for (const Kept& kept : kept_) {
    const Deadline deadline = kept.pending.command->deadline();
    latest = latest < deadline ? deadline : latest;
  }
  return latest;
}

absl::Status Batch::Seal(Proposal proposal, const LockedState& state) {
  const std::size_t first_row = rows_.size();
  for (RecordDraft& draft : proposal.records) {
    RETURN_IF_ERROR(AppendRow(std::move(draft), state));
  }
  if (!GUARD("committer.audit", !proposal.audit.has_value())) {
    RETURN_IF_ERROR(audit_health_);
    const StreamTail& tail = TailOf(audit_stream_);
    const std::span<const Record> covers(rows_.begin() + static_cast<std::ptrdiff_t>(first_row),
                                         rows_.end());
    RecordDraft entry;
    entry.stream = audit_stream_;
    entry.payload = SealAuditEntry(*proposal.audit, Next(tail.position), state.now,
                                   tail.last_payload.view(), covers, catalogue_);
    RETURN_IF_ERROR(AppendRow(std::move(entry), state));
  }
  return absl::OkStatus();
}

absl::Status Batch::AppendRow(RecordDraft draft, const LockedState& state) {
  if (draft.payload.size() > kMaxRecordBytes || draft.key.size() > kMaxKeyBytes) {
    return absl::InvalidArgumentError(
        absl::StrFormat("a record of %d bytes is over the limit", draft.payload.size()));
  }
  bytes_ += RowCost(draft.key.size(), draft.payload.size());
  if (bytes_ > kMaxTransactionBytes) {
    return absl::ResourceExhaustedError("the records are over a transaction's limit");
  }
  StreamTail& tail = TailOf(draft.stream);
  Record row;
  row.stream = draft.stream;
  row.position = Next(tail.position);
  row.tx = tx_;
  row.key = std::move(draft.key);
  row.previous = draft.previous;
  row.flags = draft.flags;
  row.at = state.now;
  row.payload = Payload(draft.payload);
  row.checksum = RowChecksum(row);
  row.digest = ChainDigest(tail.digest, row.checksum);
  tail.position = row.position;
  tail.digest = row.digest;
  tail.tx = row.tx;
  tail.at = row.at;
  if (draft.stream == audit_stream_) {
    tail.last_payload = row.payload;
  }
  rows_.push_back(std::move(row));
  return absl::OkStatus();
}

StreamTail& Batch::TailOf(StreamId stream) {
  const auto tail = std::ranges::find(tails_, stream, &StreamTail::stream);
  ENGINE_CHECK(tail != tails_.end());
  return *tail;
}

void Batch::Finish(CommandOutcome::Kind kind, const absl::Status& why) {
  for (Kept& kept : kept_) {
    const bool written = kind == CommandOutcome::Kind::kCommitted;
    const auto records = written ? std::span<const Record>(rows_).subspan(kept.first_row, kept.rows)
                                 : std::span<const Record>();
    kept.pending.command->Finish({kind, why, written ? tx_ : Tx::kBeforeFirst, records});
  }
  kept_.clear();
}

std::vector<PendingCommand> Batch::TakeBack() {
  std::vector<PendingCommand> pending;
  pending.reserve(kept_.size());
  for (Kept& kept : kept_) {
    pending.push_back(std::move(kept.pending));
  }
  kept_.clear();
  return pending;
}

}  // namespace engine
