#include "engine/batch.h"

#include <algorithm>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/check.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"

namespace engine {
namespace {

void Fail(Command& command, absl::Status why) {
  command.Finish({.kind = CommandOutcome::Kind::kFailed, .why = std::move(why)});
}

}  // namespace

Batch::Verdict Batch::Judge(PendingCommand& pending, const View& view, const LockedState& state) {
  if (!GUARD("committer.deadline", !pending.command->deadline().HasPassed())) {
    Fail(*pending.command, absl::DeadlineExceededError("the deadline passed in the queue"));
    return Verdict::kFinished;
  }
  if (const std::optional<Verdict> plain = JudgeTerms(*pending.command, state)) {
    return *plain;
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
    pending.command->Finish({.kind = CommandOutcome::Kind::kNothing});
    return Verdict::kFinished;
  }
  if (absl::Status may = CheckMayWrite(*pending.command, proposal); !may.ok()) {
    Fail(*pending.command, std::move(may));
    return Verdict::kFinished;
  }
  const Verdict verdict = Keep(pending, std::move(proposal), state);
  if (verdict == Verdict::kKept) {
    changed_.Add(footprint);
  }
  return verdict;
}

std::optional<Batch::Verdict> Batch::JudgeTerms(Command& command, const LockedState& state) {
  if (absl::Status fence = JudgeFence(command, state); !fence.ok()) {
    Fail(command, std::move(fence));
    return Verdict::kFinished;
  }
  return JudgeKey(command, state);
}

absl::Status Batch::JudgeFence(const Command& command, const LockedState& state) const {
  if (GUARD("committer.fence", command.fence() == nullptr)) {
    return absl::OkStatus();
  }
  const auto fence = std::ranges::find(question_.fences, *command.fence());
  const auto index = static_cast<std::size_t>(fence - question_.fences.begin());
  if (index >= state.fences.size()) {
    return absl::InternalError("the store was not asked about the fence");
  }
  return state.fences[index];
}

absl::Status Batch::CheckMayWrite(const Command& command, const Proposal& proposal) const {
  for (const RecordDraft& draft : proposal.records) {
    const auto spec = std::ranges::find(catalogue_, draft.stream, &StreamSpec::id);
    const bool fenced = spec != catalogue_.end() && spec->fenced;
    if (!GUARD("committer.fenced-stream", !fenced || command.fence() != nullptr)) {
      return absl::FailedPreconditionError(
          absl::StrFormat("stream %s is written in a term only", spec->name));
    }
  }
  return absl::OkStatus();
}

std::optional<Batch::Verdict> Batch::JudgeKey(Command& command, const LockedState& state) {
  if (command.retry_key() == nullptr) {
    return std::nullopt;
  }
  const RetryKey& key = *command.retry_key();
  if (std::ranges::find(answers_, key.key, &KeptAnswer::key) != answers_.end()) {
    return Verdict::kDeferred;  // Its twin is about to be committed.
  }
  const auto kept = std::ranges::find(state.answers, key.key, &KeptAnswer::key);
  if (GUARD("committer.repeated", kept == state.answers.end())) {
    return std::nullopt;
  }
  const bool same = GUARD("committer.key-reused", kept->request == key.request);
  ++(same ? repeated_ : key_reused_);
  command.Finish({.kind = same ? CommandOutcome::Kind::kRepeated : CommandOutcome::Kind::kKeyReused,
                  .tx = kept->tx,
                  .answer = same ? std::string_view(kept->answer) : std::string_view()});
  return Verdict::kFinished;
}

Batch::Verdict Batch::Keep(PendingCommand& pending, Proposal proposal, const LockedState& state) {
  if (kept_.empty()) {
    tails_ = state.tails;
    tx_ = Next(state.last_tx);
  }
  const std::size_t first_row = rows_.size();
  const std::size_t bytes_before = bytes_;
  const std::vector<StreamTail> tails_before = tails_;
  absl::Status sealed = Seal(std::move(proposal), state);
  if (sealed.ok() && pending.command->retry_key() != nullptr) {
    sealed = AddAnswer(*pending.command, first_row);
  }
  if (sealed.ok()) {
    kept_.push_back({std::move(pending), first_row, rows_.size() - first_row});
    return Verdict::kKept;
  }
  rows_.resize(first_row);
  bytes_ = bytes_before;
  tails_ = tails_before;
  if (absl::IsResourceExhausted(sealed)) {
    if (!kept_.empty()) {
      return Verdict::kDeferred;  // Too large for what room is left, perhaps not for a whole batch.
    }
    // Nor will it ever fit: whoever sent it must not think that it is a matter of waiting.
    sealed = absl::InvalidArgumentError(std::string(sealed.message()));
  }
  Fail(*pending.command, std::move(sealed));
  return Verdict::kFinished;
}

absl::Status Batch::AddAnswer(Command& command, std::size_t first_row) {
  const RetryKey& key = *command.retry_key();
  std::string answer =
      command.AnswerToKeep({.kind = CommandOutcome::Kind::kCommitted,
                            .tx = tx_,
                            .records = std::span<const Record>(rows_).subspan(first_row)});
  bytes_ += AnswerCost(answer.size());
  if (bytes_ > kMaxTransactionBytes) {
    return absl::ResourceExhaustedError("the answer puts the transaction over its limit");
  }
  answers_.push_back({.key = key.key,
                      .request = key.request,
                      .answer = std::move(answer),
                      .tx = tx_,
                      .at = rows_.back().at});
  return absl::OkStatus();
}

Deadline Batch::EarliestDeadline() const {
  Deadline earliest = Deadline::Infinite();
  for (const Kept& kept : kept_) {
    earliest = earliest.EarlierOf(kept.pending.command->deadline());
  }
  return earliest;
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
    kept.pending.command->Finish(
        {.kind = kind, .why = why, .tx = written ? tx_ : Tx::kBeforeFirst, .records = records});
  }
  kept_.clear();
}

void Batch::FinishLate(const absl::Status& why) {
  std::vector<Kept> in_time;
  for (Kept& kept : kept_) {
    if (kept.pending.command->deadline().HasPassed()) {
      kept.pending.command->Finish({.kind = CommandOutcome::Kind::kUnknown, .why = why});
    } else {
      in_time.push_back(std::move(kept));
    }
  }
  kept_ = std::move(in_time);
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
