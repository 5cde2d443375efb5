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

// What has to be known to judge these commands.
Question QuestionOf(const std::deque<PendingCommand>& commands, Cursors after) {
  Question question{.after = std::move(after)};
  for (const PendingCommand& pending : commands) {
    if (const RetryKey* key = pending.command->retry_key(); key != nullptr) {
      question.answers.push_back(key->key);
    }
    const Fence* fence = pending.command->fence();
    if (fence != nullptr && std::ranges::find(question.fences, *fence) == question.fences.end()) {
      question.fences.push_back(*fence);
    }
  }
  return question;
}

// Rows that were there are gone, and no other life of the store answered: someone took them.
void ConfirmAnew(Journal& journal, Follower& follower, Deadline patience) {
  follower.Doubt();
  if (const absl::Status confirmed = ConfirmHistory(journal, follower, patience); !confirmed.ok()) {
    Log(Severity::kWarning, "history not confirmed", {{"error", confirmed.ToString()}});
  }
}

// Whether another try of the same commands may well succeed.
bool IsTheStoresFault(const absl::Status& why) {
  return absl::IsUnavailable(why) || absl::IsDeadlineExceeded(why) || absl::IsAborted(why);
}

}  // namespace

Committer::Committer(Journal& journal, Follower& follower, Follower* audit,
                     CommitterOptions options)
    : journal_(journal), follower_(follower), audit_(audit), options_(options) {
  follower_.Doubt();
  watcher_ = Thread("commit-deadline", [this] { WatchDeadlines(); });
  thread_ = Thread("committer", [this] { CommitUntilStopped(); });
}

Committer::~Committer() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  arrived_.SignalAll();
  watch_.SignalAll();
  stopped_.SignalAll();
  thread_.Join();
  watcher_.Join();
  FailWaiting(absl::UnavailableError("shutting down"));
}

Committer::Counters Committer::counters() const {
  MutexLock lock(mutex_);
  return counters_;
}

void Committer::CommitUntilStopped() {
  while (const std::optional<Deadline> patience = WaitForCommands()) {
    RunTransaction(*patience);
  }
}

void Committer::RunTransaction(Deadline patience) {
  Session session;
  auto transaction = BeginCaughtUp(patience, session);
  if (!transaction.ok()) {
    PutBack(std::move(session.commands));
    // A store may give up a little before the deadline, or at one of its own: to ask it again at
    // once for what time is left would be in vain, again and again.
    return absl::IsDeadlineExceeded(transaction.status()) ? GiveUp(patience, transaction.status())
                                                          : FailWaiting(transaction.status());
  }
  if (session.commands.empty()) {
    return;  // All have left meanwhile.
  }
  const ViewPtr view = follower_.view();
  if (const absl::Status fits = CheckTails(*view, session.state); !fits.ok()) {
    transaction->reset();
    PutBack(std::move(session.commands));
    FailWaiting(fits);
    return ConfirmAnew(journal_, follower_, patience);
  }
  Batch batch = JudgeAll(session, *view);
  PutBack(std::move(session.commands));
  if (batch.empty()) {
    return;  // Dropping the transaction rolls it back: nothing to flush.
  }
  const Duration sent = SystemClock().SinceBoot();
  CommitOutcome outcome;
  outcome.why = (*transaction)->Append(batch.rows(), batch.answers());
  if (outcome.why.ok()) {
    outcome = (*transaction)->Commit(batch.EarliestDeadline());
  }
  transaction->reset();
  switch (outcome.kind) {
    case CommitOutcome::Kind::kCommitted:
      if (options_.proof != nullptr) {
        options_.proof->Acknowledged(session.state.news.origin, sent);
      }
      return Committed(batch, session.state);
    case CommitOutcome::Kind::kFailed:
      return Failed(batch, outcome.why);
    case CommitOutcome::Kind::kUnknown:
      return Settle(std::move(batch), session.state);
  }
}

// Opens a transaction whose news is folded, for the commands that wait when the lock is granted.
// What does not fit a page is read without the lock, so that nobody waits for a replica that was
// far behind.
absl::StatusOr<std::unique_ptr<Transaction>> Committer::BeginCaughtUp(Deadline patience,
                                                                      Session& session) {
  while (true) {
    ASSIGN_OR_RETURN(std::unique_ptr<Transaction> transaction, journal_.Begin(patience));
    session.commands = TakeWaiting();
    if (session.commands.empty()) {
      return transaction;
    }
    session.question = QuestionOf(session.commands, follower_.cursors());
    ASSIGN_OR_RETURN(session.state, transaction->Read(session.question));
    const bool delivered = follower_.Deliver(session.state.news);
    const bool believed = GUARD("committer.origin", delivered);
    if (believed && session.state.news.complete) {
      return transaction;
    }
    transaction.reset();
    PutBack(std::move(session.commands));
    session.commands.clear();
    if (!believed) {
      RETURN_IF_ERROR(ConfirmHistory(journal_, follower_, patience));
      continue;
    }
    bool complete = false;
    while (!complete) {
      ASSIGN_OR_RETURN(const News news, journal_.ReadAfter(follower_.cursors(), patience));
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

// Leaves in the session what belongs to a later batch.
Batch Committer::JudgeAll(Session& session, const View& view) {
  const absl::Status audit_health =
      audit_ == nullptr ? absl::OkStatus() : audit_->view()->Find(options_.audit_stream)->health;
  Batch batch(journal_.catalogue(), session.question, options_.audit_stream, audit_health,
              options_.limits);
  Commands later;
  std::uint64_t judged = 0;
  std::uint64_t deferred = 0;
  while (!session.commands.empty()) {
    PendingCommand pending = std::move(session.commands.front());
    session.commands.pop_front();
    const bool alone = pending.alone;
    if (alone && !batch.empty()) {
      later.push_back(std::move(pending));
      continue;
    }
    if (batch.Judge(pending, view, session.state) == Batch::Verdict::kDeferred) {
      later.push_back(std::move(pending));
      ++deferred;
    } else {
      ++judged;
    }
    if (alone && !batch.empty()) {
      break;
    }
  }
  std::ranges::move(session.commands, std::back_inserter(later));
  session.commands.swap(later);
  MutexLock lock(mutex_);
  counters_.commands += judged;
  counters_.deferred += deferred;
  counters_.repeated += batch.repeated();
  counters_.key_reused += batch.key_reused();
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

void Committer::Failed(Batch& batch, const absl::Status& why) {
  {
    MutexLock lock(mutex_);
    ++counters_.failed;
  }
  if (batch.size() == 1) {
    batch.Finish(CommandOutcome::Kind::kFailed, why);
    return;
  }
  Commands again;
  for (PendingCommand& pending : batch.TakeBack()) {
    ++pending.failures;
    pending.alone = !IsTheStoresFault(why) || pending.failures > 1;
    again.push_back(std::move(pending));
  }
  PutBack(std::move(again));
}

void Committer::Settle(Batch batch, const LockedState& state) {
  {
    MutexLock lock(mutex_);
    ++counters_.unknown;
  }
  const absl::Status unknown = absl::UnknownError("the store did not answer the commit in time");
  Log(Severity::kWarning, "commit outcome unknown, settling", {{"rows", batch.rows().size()}});
  while (true) {
    batch.FinishLate(unknown);
    if (batch.empty()) {
      return;
    }
    const Deadline deadline = batch.EarliestDeadline();
    const absl::StatusOr<bool> present = IsInJournal(batch.rows().front(), deadline);
    if (present.ok()) {
      Log(Severity::kInfo, "commit outcome settled", {{"committed", *present}});
      return *present ? Committed(batch, state)
                      : Failed(batch, absl::UnavailableError("the commit failed"));
    }
    MutexLock lock(mutex_);
    if (stopping_) {
      break;
    }
    stopped_.WaitUntil(mutex_, Deadline::After(kSettleInterval).EarlierOf(deadline));
  }
  batch.Finish(CommandOutcome::Kind::kUnknown, unknown);
}

// Whether exactly this row is in the journal. Asked under the lock: a transaction of ours that
// still runs holds it, so once it is ours that transaction has ended, one way or the other.
absl::StatusOr<bool> Committer::IsInJournal(const Record& record, Deadline deadline) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Transaction> lock, journal_.Begin(deadline));
  // Read through the transaction: another connection could be to another server.
  const Position before{Raw(record.position) - 1};
  ASSIGN_OR_RETURN(const LockedState state,
                   lock->Read({.after = {{record.stream, before, Digest::kEmpty}}}));
  const std::vector<Record>& found = state.news.rows;
  return !GUARD("committer.settle", found.empty() || found.front().digest != record.digest);
}

}  // namespace engine
