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
// If the transaction fails, each of its commands is tried alone, once, so that only the guilty
// one gets the error. If its outcome is unknown, the committer takes the lock again (which waits
// for a transaction that still runs) and compares digests at its positions: equal means
// committed, anything else means it never can be.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/audit_chain.h"
#include "engine/base/mutex.h"
#include "engine/base/thread.h"
#include "engine/follower.h"
#include "engine/footprint.h"
#include "engine/journal.h"

namespace engine {

// A record that a command wants to append; the committer fills in the rest.
struct RecordDraft {
  StreamId stream = StreamId::kInvalid;
  std::string key;
  Position previous = Position::kBeforeFirst;  // The key's newest record in the view.
  std::uint16_t flags = 0;
  std::string payload;
};

// What a command wants done. Empty: nothing to write (a refusal, or a no-op).
struct Proposal {
  std::vector<RecordDraft> records;
  std::optional<AuditDraft> audit;
};

struct DecideContext {
  const View& view;      // Committed state, under the lock.
  Timestamp now;         // Will be `at` of the records.
  Footprint& footprint;  // Tell it what is read and what will be changed.
};

struct CommandOutcome {
  enum class Kind {
    kCommitted,  // Durable. `records` are the command's own rows, the audit entry last.
    kNothing,    // Decide proposed nothing; its answer rests on committed state.
    kFailed,     // Nothing was written: why has the reason.
    kUnknown,    // It may have been written; it could not be settled within the deadline.
  };
  Kind kind = Kind::kFailed;
  absl::Status why;
  Tx tx = Tx::kBeforeFirst;
  std::span<const Record> records;  // Valid during Finish only.
};

// One mutation on its way. Decide and Finish are called on the committer's thread; neither may
// block.
class Command {
 public:
  virtual ~Command() = default;

  // After this moment the command is dropped unjudged: kDeadlineExceeded, nothing written.
  virtual Deadline deadline() const = 0;

  // Judges the command. Can be called again, with a newer view: everything kept from the call
  // before is void then. Reads only through the view, notes each fact in the footprint.
  virtual Proposal Decide(const DecideContext& context) = 0;

  // Called exactly once, last.
  virtual void Finish(const CommandOutcome& outcome) = 0;
};

struct CommitterOptions {
  // Commands queued at once; one more is refused with kResourceExhausted.
  std::size_t max_queue = 4096;
  std::size_t max_batch_bytes = kMaxTransactionBytes / 2;
  std::size_t max_batch_commands = 1024;
  // The audit stream; every proposal with an audit draft gets one entry there.
  StreamId audit_stream = StreamId::kInvalid;
};

// Thread-safe. Submit never blocks.
class Committer {
 public:
  // `audit` may be null; otherwise committed audit entries are delivered there too.
  Committer(Journal& journal, Follower& follower, Follower* audit, CommitterOptions options);
  // Fails what still waits with kUnavailable; a transaction under way is finished first.
  ~Committer();

  // Takes the command; its Finish tells the outcome. A refused one (queue full, stopping) is
  // finished before Submit returns.
  void Submit(std::unique_ptr<Command> command);

  struct Counters {
    std::uint64_t batches = 0;    // Transactions that committed.
    std::uint64_t commands = 0;   // Judged, however they ended.
    std::uint64_t records = 0;    // Committed, audit entries included.
    std::uint64_t deferred = 0;   // Moved to a later batch by a conflict.
    std::uint64_t failed = 0;     // Transactions that failed.
    std::uint64_t unknown = 0;    // Transactions whose outcome had to be settled.
  };
  Counters counters() const;

 private:
  struct Pending;
  struct Batch;

  void CommitUntilStopped();
  std::vector<Pending> TakeQueue();
  void RunBatch(std::vector<Pending> commands);
  absl::Status Prepare(Transaction& transaction, Batch& batch);

  Journal& journal_;
  Follower& follower_;
  Follower* const audit_;
  const CommitterOptions options_;
  mutable Mutex mutex_;
  CondVar arrived_;
  std::deque<std::unique_ptr<Command>> queue_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  Counters counters_ ABSL_GUARDED_BY(mutex_);
  Thread thread_;
};

}  // namespace engine
