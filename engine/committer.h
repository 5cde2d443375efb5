// Committer lets any number of waiting writers share one transaction: group commit, the
// coalescer's twin.
//
// Whatever queued while the last transaction committed is the next batch; nobody waits for
// company. Under the journal's lock the news is folded first, then each command judges itself
// against that newest state, reading through a footprint. A command that touches what an earlier
// one of the batch changed moves to the head of the next batch, so every outcome is one that some
// serial order gives. Refusals rest on committed state and are answered at once. What was
// proposed is numbered, sealed (one audit entry a command) and committed together.
//
// The batch closes when the lock is granted: the store is asked about the fences and the retry
// keys of exactly its commands then. A command whose fence does not hold is refused, one whose
// answer is kept gets that; the others are none the worse.
//
// While the lock is waited for, whoever's deadline passes is told so at once; the wait itself goes
// on for as long as anyone has time who was there when it began. To give up with the first one
// would send the others to the end of the queue for the lock again and again.
//
// If the transaction fails through the fault of a command, each is tried alone, once, so that only
// the guilty one gets the error; if the store was at fault, they are tried together once more
// before that. If its outcome is unknown, the committer takes the lock again (which waits for a
// transaction that still runs) and compares digests at its positions: equal means committed,
// anything else means it never can be.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/base/mutex.h"
#include "engine/base/thread.h"
#include "engine/batch.h"
#include "engine/command.h"
#include "engine/follower.h"
#include "engine/journal.h"
#include "engine/proof.h"

namespace engine {

struct CommitterOptions {
  // Commands that wait at once, in the queue or because a conflict moved them to a later batch;
  // one more is refused with kResourceExhausted.
  std::size_t max_queue = 4096;
  BatchLimits limits = {};
  // The audit stream; every proposal with an audit draft gets one entry there.
  StreamId audit_stream = StreamId::kInvalid;
  // Told of every commit; must outlive the committer. Optional.
  Proof* proof = nullptr;
};

// Thread-safe. Submit never blocks.
class Committer {
 public:
  // `audit` may be null; otherwise committed audit entries are delivered there too. The first
  // transaction confirms the history that was replayed.
  Committer(Journal& journal, Follower& follower, Follower* audit, CommitterOptions options);
  // Fails what still waits with kUnavailable; a transaction under way is finished first.
  ~Committer();

  // Takes the command; its Finish tells the outcome. A refused one (queue full, stopping) is
  // finished before Submit returns.
  void Submit(std::unique_ptr<Command> command);

  struct Counters {
    std::uint64_t batches = 0;     // Transactions that committed.
    std::uint64_t commands = 0;    // Judged, however they ended.
    std::uint64_t records = 0;     // Committed, audit entries included.
    std::uint64_t deferred = 0;    // Moved to a later batch by a conflict.
    std::uint64_t failed = 0;      // Transactions that failed.
    std::uint64_t unknown = 0;     // Transactions whose outcome had to be settled.
    std::uint64_t repeated = 0;    // Commands that were answered with what was kept.
    std::uint64_t key_reused = 0;  // Commands whose key was another request's.
  };
  Counters counters() const;

 private:
  using Commands = std::deque<PendingCommand>;

  // What is asked and answered under one grant of the lock.
  struct Session {
    Commands commands;
    Question question;
    LockedState state;
  };

  void CommitUntilStopped();
  // Blocks until there is a command; the latest deadline of all. Empty: stopping.
  std::optional<Deadline> WaitForCommands();
  // The commands that wait, in their order; they wait no longer.
  Commands TakeWaiting();
  // To the head of the line.
  void PutBack(Commands commands);
  void RunTransaction(Deadline patience);
  absl::StatusOr<std::unique_ptr<Transaction>> BeginCaughtUp(Deadline patience, Session& session);
  absl::Status CheckTails(const View& view, const LockedState& state) const;
  Batch JudgeAll(Session& session, const View& view);
  void Settle(Batch batch, const LockedState& state);
  absl::StatusOr<bool> IsInJournal(const Record& record, Deadline deadline);
  void Committed(Batch& batch, const LockedState& state);
  void Failed(Batch& batch, const absl::Status& why);
  void FailWaiting(const absl::Status& why);
  // Tells those who wait and whose deadline is not later than `given_up`; `why` has the reason, if
  // one is known.
  void GiveUp(Deadline given_up, const absl::Status& why);
  void WatchDeadlines();

  Journal& journal_;
  Follower& follower_;
  Follower* const audit_;
  const CommitterOptions options_;
  mutable Mutex mutex_;
  CondVar arrived_;
  CondVar watch_;
  CondVar stopped_;
  Commands waiting_ ABSL_GUARDED_BY(mutex_);
  Deadline watched_ ABSL_GUARDED_BY(mutex_) = Deadline::Infinite();  // The watcher wakes then.
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  Counters counters_ ABSL_GUARDED_BY(mutex_);
  Thread watcher_;
  Thread thread_;
};

}  // namespace engine
