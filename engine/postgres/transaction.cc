#include "engine/postgres/transaction.h"

#include <chrono>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/append_check.h"
#include "engine/base/guard.h"
#include "engine/base/reason.h"
#include "engine/base/status_macros.h"
#include "engine/postgres/leases.h"
#include "engine/postgres/nested_limits.h"
#include "engine/postgres/server_facts.h"

namespace engine::postgres {
namespace {

// How long the end of a dropped transaction may take before its connection is closed instead.
constexpr Duration kRollBackTime = std::chrono::seconds(1);

CommitOutcome Failed(absl::Status why) {
  return {CommitOutcome::Kind::kFailed, std::move(why)};
}

CommitOutcome Unknown(std::string_view why) {
  return {CommitOutcome::Kind::kUnknown,
          absl::UnknownError(absl::StrFormat("the outcome of the commit is unknown: %s", why))};
}

std::string Text(const absl::Status& status) {
  return std::string(status.message().data(), status.message().size());
}

}  // namespace

absl::StatusOr<std::unique_ptr<Transaction>> PostgresTransaction::Begin(
    const Catalogue& catalogue, const Statements& statements, Pool::Lease lease, Lives& lives,
    Deadline deadline) {
  std::unique_ptr<PostgresTransaction> transaction(
      new PostgresTransaction(catalogue, statements, std::move(lease), lives, deadline));
  RETURN_IF_ERROR(transaction->TakeLock());
  return transaction;
}

absl::Status PostgresTransaction::TakeLock() {
  RETURN_IF_ERROR(lease_->Prepare({&statements_.insert, &statements_.keep}, deadline_));
  const Limits limits = LimitsFor(deadline_);
  Params settings;
  settings.Text(limits.LockText()).Text(limits.StatementText()).Text(statements_.schema_path);
  Params left;
  left.Int64(limits.statement_ms);
  open_ = true;
  const RunOutcome outcome = lease_->Run({{statements_.begin, {}},
                                          {statements_.settings, std::move(settings)},
                                          {statements_.lock, {}},
                                          {statements_.locked, std::move(left)}},
                                         deadline_);
  if (ReasonOf(outcome.status) == Reason::kLockBusy) {
    lease_->CountTimeout();
  }
  RETURN_IF_ERROR(outcome.status);
  RETURN_IF_ERROR(CheckStillSynchronous(*lease_, outcome.results[1]));
  locked_oid_ = static_cast<std::uint32_t>(outcome.results[2].Int64(0, 0));
  return absl::OkStatus();
}

PostgresTransaction::~PostgresTransaction() {
  RollBack();
}

void PostgresTransaction::RollBack() {
  if (!open_ || lease_->broken()) {
    return;
  }
  open_ = false;
  if (!lease_->Run({{statements_.rollback, {}}}, Deadline::After(kRollBackTime)).status.ok()) {
    lease_->Close();
  }
}

// The lock in one statement, the judgement, and with it the clock, in the next: in one, the fence
// would be judged as of before the wait for the lock. Where the judgement's answer will be.
std::size_t PostgresTransaction::AddFenceSteps(const std::vector<Fence>& fences,
                                               std::vector<Step>& steps) const {
  if (fences.empty()) {
    return steps.size();
  }
  Step lock{statements_.fence_lock, FenceLockParams(fences)};
  Step judge{statements_.fence_judge, FenceJudgeParams(fences)};
  if (GUARD("postgres.fence-judged-after-lock", false)) {
    steps.push_back(std::move(judge));
    steps.push_back(std::move(lock));
    return steps.size() - 2;
  }
  steps.push_back(std::move(lock));
  steps.push_back(std::move(judge));
  return steps.size() - 1;
}

// Several statements, and no third party between them: the lock is ours. Without `state` only
// the tails are asked for.
absl::Status PostgresTransaction::Ask(const Question& question, LockedState* state) {
  std::vector<Step> steps;
  steps.push_back({statements_.tails, TailsParams(catalogue_)});
  if (state != nullptr) {
    steps.push_back({statements_.news, NewsParams(question.after, kNewsRowLimit,
                                                  static_cast<std::int64_t>(kNewsPageBytes))});
  }
  const std::size_t answers = steps.size();
  if (!question.answers.empty()) {
    steps.push_back({statements_.answers, AnswersParams(question.answers)});
  }
  const std::size_t fences = AddFenceSteps(question.fences, steps);
  const RunOutcome outcome = lease_->Run(steps, deadline_);
  RETURN_IF_ERROR(outcome.status);
  absl::StatusOr<AllTails> ends = TailsOf(catalogue_, outcome.results[0]);
  absl::Status sound = ends.ok() ? lives_.Judge(ends->origin) : ends.status();
  if (!sound.ok()) {
    lease_->Close();
    return sound;
  }
  const auto oid = static_cast<std::uint32_t>(outcome.results[0].Int32(0, kTailJournalOid));
  if (!GUARD("postgres.locked-table", oid == locked_oid_)) {
    // The table was replaced while we waited: its lock is another one.
    lease_->Close();
    return absl::UnavailableError("halo_journal was replaced while we waited for its lock");
  }
  if (state != nullptr) {
    ASSIGN_OR_RETURN(state->news, NewsOf(question.after, outcome.results[1]));
    if (!question.answers.empty()) {
      state->answers = AnswersOf(outcome.results[answers]);
    }
    if (!question.fences.empty()) {
      state->fences = FencesOf(question.fences, outcome.results[fences]);
    }
  }
  ends_ = *std::move(ends);
  read_at_ = SystemClock().SinceBoot();
  read_ = true;
  return absl::OkStatus();
}

absl::StatusOr<LockedState> PostgresTransaction::Read(const Question& question) {
  LockedState state;
  RETURN_IF_ERROR(Ask(question, &state));
  state.tails = ends_.tails;
  state.last_tx = ends_.last_tx;
  state.now = ends_.now;
  return state;
}

absl::Status PostgresTransaction::Append(std::vector<Record> rows,
                                         std::vector<KeptAnswer> answers) {
  if (!read_) {
    RETURN_IF_ERROR(Ask({}, nullptr));
  }
  RETURN_IF_ERROR(CheckAppend(catalogue_, ends_.tails, ends_.last_tx, {rows, answers}));
  rows_ = std::move(rows);
  answers_ = std::move(answers);
  return absl::OkStatus();
}

std::optional<Timestamp> PostgresTransaction::OnServer(Deadline deadline) const {
  if (GUARD("postgres.commit-deadline", deadline.IsInfinite())) {
    return std::nullopt;
  }
  const Duration left = SystemClock().SinceBoot() + deadline.Remaining() - read_at_;
  return Timestamp{ends_.clock.micros +
                   std::chrono::duration_cast<std::chrono::microseconds>(left).count()};
}

CommitOutcome PostgresTransaction::Commit(Deadline deadline) {
  deadline = deadline.EarlierOf(deadline_);
  // A session that has ended already, idle for too long perhaps, rolled back.
  if (!lease_->CheckOpen()) {
    return Failed(absl::UnavailableError("the database connection broke before the commit"));
  }
  if (deadline.HasPassed()) {
    RollBack();
    return Failed(absl::DeadlineExceededError("the deadline passed before the commit"));
  }
  std::vector<Step> steps;
  if (!rows_.empty()) {
    steps.push_back({statements_.insert, InsertParams(rows_, OnServer(deadline))});
  }
  if (!answers_.empty()) {
    steps.push_back({statements_.keep, KeepParams(answers_)});
  }
  steps.push_back({statements_.commit, {}});
  CommitOutcome outcome = Judge(lease_->Run(steps, deadline));
  if (outcome.kind == CommitOutcome::Kind::kFailed) {
    if (deadline.HasPassed()) {
      outcome.why = absl::DeadlineExceededError("the deadline passed before the commit");
    }
    RollBack();
  }
  open_ = false;
  return outcome;
}

CommitOutcome PostgresTransaction::Judge(const RunOutcome& outcome) {
  if (!outcome.status.ok()) {
    // Only an error that left the session sound says for certain that the COMMIT did not happen:
    // a server that goes down can tell so after it wrote it.
    return outcome.failed_cleanly ? Failed(outcome.status) : Unknown(Text(outcome.status));
  }
  const Result& commit = outcome.results.back();
  if (!GUARD("postgres.commit-tag", commit.tag() == "COMMIT")) {
    return Failed(
        absl::AbortedError(absl::StrFormat("the database answered COMMIT with %s", commit.tag())));
  }
  // Waiting for a synchronous standby was cut short: committed here, perhaps nowhere else. Any
  // other warning would be as strange.
  if (!GUARD("postgres.sync-warning", commit.warnings().empty())) {
    lease_->Close();
    return Unknown(commit.warnings().front());
  }
  return {CommitOutcome::Kind::kCommitted, absl::OkStatus()};
}

}  // namespace engine::postgres
