#include "engine/committer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/logging.h"
#include "engine/base/status_macros.h"
#include "engine/history.h"

namespace engine {
namespace {

// Between two attempts to reach the store while an outcome is unknown.
constexpr Duration kSettleInterval = std::chrono::milliseconds(50);

// The batch's own rows, as news after the tails that were read under the lock.
News OwnNews(const std::vector<Record>& rows, const LockedState& state) {
  News news;
  news.origin = state.news.origin;
  news.rows = rows;
  std::ranges::stable_sort(news.rows, {}, &Record::stream);
  for (const StreamTail& tail : state.tails) {
    if (std::ranges::find(rows, tail.stream, &Record::stream) != rows.end()) {
      news.after.push_back({tail.stream, tail.position, tail.digest});
    }
  }
  return news;
}

}  // namespace

Committer::Committer(Journal& journal, Follower& follower, Follower* audit,
                     CommitterOptions options)
    : journal_(journal), follower_(follower), audit_(audit), options_(options) {
  follower_.Doubt();
  thread_ = Thread("committer", [this] { CommitUntilStopped(); });
}

Committer::~Committer() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  arrived_.SignalAll();
  stopped_.SignalAll();
  thread_.Join();
}

void Committer::Submit(std::unique_ptr<Command> command) {
  absl::Status refusal;
  {
    MutexLock lock(mutex_);
    if (stopping_) {
      refusal = absl::UnavailableError("shutting down");
    } else if (!GUARD("committer.queue", queue_.size() + carried_over_ < options_.max_queue)) {
      refusal = absl::ResourceExhaustedError("too many writers wait for the journal");
    } else {
      queue_.push_back(std::move(command));
    }
  }
  if (refusal.ok()) {
    arrived_.Signal();
  } else {
    command->Finish({CommandOutcome::Kind::kFailed, refusal, Tx::kBeforeFirst, {}});
  }
}

Committer::Counters Committer::counters() const {
  MutexLock lock(mutex_);
  return counters_;
}

void Committer::CommitUntilStopped() {
  Commands carried;  // Deferred by a conflict or to be tried alone; they go first.
  while (WaitForCommands(carried)) {
    RunTransaction(carried);
    MutexLock lock(mutex_);
    carried_over_ = carried.size();
  }
  TakeQueue(carried);
  FailAll(carried, absl::UnavailableError("shutting down"));
}

bool Committer::WaitForCommands(const Commands& carried) {
  MutexLock lock(mutex_);
  while (queue_.empty() && carried.empty() && !stopping_) {
    arrived_.Wait(mutex_);
  }
  return !stopping_;
}

void Committer::TakeQueue(Commands& carried) {
  MutexLock lock(mutex_);
  for (std::unique_ptr<Command>& command : queue_) {
    carried.push_back({.command = std::move(command)});
  }
  queue_.clear();
}

// Tells those whose deadline passed while they waited, or is not later than `given_up`: a store
// may give up a little before the deadline, or at one of its own, and to ask it again at once for
// what time is left would be in vain, again and again.
void Committer::Expire(Commands& carried, std::optional<Deadline> given_up) {
  TakeQueue(carried);
  Commands alive;
  for (PendingCommand& pending : carried) {
    const Deadline deadline = pending.command->deadline();
    if (deadline.HasPassed() || (given_up.has_value() && !(*given_up < deadline))) {
      pending.command->Finish({CommandOutcome::Kind::kFailed,
                               absl::DeadlineExceededError("the journal's lock was not free"),
                               Tx::kBeforeFirst,
                               {}});
    } else {
      alive.push_back(std::move(pending));
    }
  }
  carried.swap(alive);
}

void Committer::RunTransaction(Commands& carried) {
  Expire(carried, std::nullopt);
  if (carried.empty()) {
    return;
  }
  Deadline deadline = Deadline::Infinite();
  for (const PendingCommand& pending : carried) {
    deadline = deadline.EarlierOf(pending.command->deadline());
  }
  LockedState state;
  auto transaction = BeginCaughtUp(deadline, state);
  if (absl::IsDeadlineExceeded(transaction.status())) {
    return Expire(carried, deadline);  // The others still have time.
  }
  if (!transaction.ok()) {
    FailAll(carried, transaction.status());
    return;
  }
  const ViewPtr view = follower_.view();
  if (const absl::Status fits = CheckTails(*view, state); !fits.ok()) {
    transaction->reset();
    FailAll(carried, fits);
    // Rows that were there are gone, and no other life of the store answered: someone took them.
    follower_.Doubt();
    if (const absl::Status confirmed = ConfirmHistory(journal_, follower_, deadline);
        !confirmed.ok()) {
      Log(Severity::kWarning, "history not confirmed", {{"error", confirmed.ToString()}});
    }
    return;
  }
  Batch batch = JudgeAll(carried, *view, state);
  if (batch.empty()) {
    return;  // Dropping the transaction rolls it back: nothing to flush.
  }
  const Duration sent = SystemClock().SinceBoot();
  CommitOutcome outcome;
  outcome.why = (*transaction)->Append(batch.rows());
  if (outcome.why.ok()) {
    outcome = (*transaction)->Commit();
  }
  transaction->reset();
  switch (outcome.kind) {
    case CommitOutcome::Kind::kCommitted:
      if (options_.proof != nullptr) {
        options_.proof->Acknowledged(state.news.origin, sent);
      }
      return Committed(batch, state);
    case CommitOutcome::Kind::kFailed:
      return Failed(batch, outcome.why, carried);
    case CommitOutcome::Kind::kUnknown:
      return Settle(std::move(batch), state, carried);
  }
}

// Opens a transaction whose news is folded. What does not fit a page is read without the lock, so
// that nobody waits for a replica that was far behind.
absl::StatusOr<std::unique_ptr<Transaction>> Committer::BeginCaughtUp(Deadline deadline,
                                                                      LockedState& state) {
  while (true) {
    ASSIGN_OR_RETURN(std::unique_ptr<Transaction> transaction, journal_.Begin(deadline));
    ASSIGN_OR_RETURN(state, transaction->Read(follower_.cursors()));
    const bool believed = GUARD("committer.origin", follower_.Deliver(state.news));
    if (believed && state.news.complete) {
      return transaction;
    }
    transaction.reset();
    if (!believed) {
      RETURN_IF_ERROR(ConfirmHistory(journal_, follower_, deadline));
      continue;
    }
    bool complete = false;
    while (!complete) {
      ASSIGN_OR_RETURN(const News news, journal_.ReadAfter(follower_.cursors(), deadline));
      // Not believed: the lock will tell.
      complete = !follower_.Deliver(news) || news.complete;
    }
  }
}

// Under the lock, with the news folded, every followed stream must end where the store says.
absl::Status Committer::CheckTails(const View& view, const LockedState& state) const {
  for (const StreamView& stream : view.streams) {
    const auto tail = std::ranges::find(state.tails, stream.stream, &StreamTail::stream);
    if (tail == state.tails.end()) {
      return absl::DataLossError(
          absl::StrFormat("the store does not know stream %d", Raw(stream.stream)));
    }
    if (stream.health.ok() && !GUARD("committer.tails", tail->position == stream.position &&
                                                            tail->digest == stream.digest)) {
      return absl::DataLossError(absl::StrFormat("stream %d ends at %d in the store, at %d here",
                                                 Raw(stream.stream), Raw(tail->position),
                                                 Raw(stream.position)));
    }
  }
  return absl::OkStatus();
}

Batch Committer::JudgeAll(Commands& carried, const View& view, const LockedState& state) {
  TakeQueue(carried);  // The batch closes here: the lock is granted.
  const absl::Status audit_health =
      audit_ == nullptr ? absl::OkStatus() : audit_->view()->Find(options_.audit_stream)->health;
  Batch batch(journal_.catalogue(), options_.audit_stream, audit_health, options_.limits);
  Commands later;
  std::uint64_t judged = 0;
  std::uint64_t deferred = 0;
  while (!carried.empty()) {
    PendingCommand pending = std::move(carried.front());
    carried.pop_front();
    const bool alone = pending.alone;
    if (alone && !batch.empty()) {
      later.push_back(std::move(pending));
      continue;
    }
    if (batch.Judge(pending, view, state) == Batch::Verdict::kDeferred) {
      later.push_back(std::move(pending));
      ++deferred;
    } else {
      ++judged;
    }
    if (alone && !batch.empty()) {
      break;
    }
  }
  std::ranges::move(carried, std::back_inserter(later));
  carried.swap(later);
  MutexLock lock(mutex_);
  counters_.commands += judged;
  counters_.deferred += deferred;
  return batch;
}

void Committer::Committed(Batch& batch, const LockedState& state) {
  const News own = OwnNews(batch.rows(), state);
  follower_.Deliver(own);
  if (audit_ != nullptr) {
    audit_->Deliver(own);
  }
  {
    MutexLock lock(mutex_);
    ++counters_.batches;
    counters_.records += batch.rows().size();
  }
  batch.Finish(CommandOutcome::Kind::kCommitted, absl::OkStatus());
}

void Committer::Failed(Batch& batch, const absl::Status& why, Commands& carried) {
  {
    MutexLock lock(mutex_);
    ++counters_.failed;
  }
  if (batch.size() == 1) {
    batch.Finish(CommandOutcome::Kind::kFailed, why);
    return;
  }
  std::vector<PendingCommand> again = batch.TakeBack();
  for (auto pending = again.rbegin(); pending != again.rend(); ++pending) {
    pending->alone = true;
    carried.push_front(std::move(*pending));
  }
}

void Committer::Settle(Batch batch, const LockedState& state, Commands& carried) {
  {
    MutexLock lock(mutex_);
    ++counters_.unknown;
  }
  const Deadline deadline = batch.LatestDeadline();
  Log(Severity::kWarning, "commit outcome unknown, settling", {{"rows", batch.rows().size()}});
  while (!deadline.HasPassed()) {
    const absl::StatusOr<bool> present = IsInJournal(batch.rows().front(), deadline);
    if (present.ok()) {
      Log(Severity::kInfo, "commit outcome settled", {{"committed", *present}});
      return *present ? Committed(batch, state)
                      : Failed(batch, absl::UnavailableError("the commit failed"), carried);
    }
    MutexLock lock(mutex_);
    if (stopping_) {
      break;
    }
    stopped_.WaitUntil(mutex_, Deadline::After(kSettleInterval).EarlierOf(deadline));
  }
  batch.Finish(CommandOutcome::Kind::kUnknown,
               absl::UnknownError("the store did not answer the commit in time"));
}

// Whether exactly this row is in the journal. Asked under the lock: a transaction of ours that
// still runs holds it, so once it is ours that transaction has ended, one way or the other.
absl::StatusOr<bool> Committer::IsInJournal(const Record& record, Deadline deadline) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Transaction> lock, journal_.Begin(deadline));
  // Read through the transaction: another connection could be to another server.
  const Position before{Raw(record.position) - 1};
  ASSIGN_OR_RETURN(const LockedState state, lock->Read({{record.stream, before, Digest::kEmpty}}));
  const std::vector<Record>& found = state.news.rows;
  return !GUARD("committer.settle", found.empty() || found.front().digest != record.digest);
}

void Committer::FailAll(Commands& carried, const absl::Status& why) {
  TakeQueue(carried);
  for (PendingCommand& pending : carried) {
    pending.command->Finish({CommandOutcome::Kind::kFailed, why, Tx::kBeforeFirst, {}});
  }
  carried.clear();
}

}  // namespace engine
