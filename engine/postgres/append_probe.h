// AppendProbe looks whether an append would get through, without making one: whether our role may
// insert, whether the table is open for it, and whether the journal's lock comes free at all.
//
// The lock is nearly always held by somebody, for a moment. It is stuck when one and the same
// transaction has it for long; who waits for it, and for how long, says nothing.

#pragma once

#include <optional>
#include <string>

#include <absl/status/status.h>

#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/postgres/connection.h"
#include "engine/postgres/statements.h"

namespace engine::postgres {

// Tells a lock that is busy from one that is stuck. Thread-safe; never blocks.
class LockWatch {
 public:
  // `clock` must outlive it.
  explicit LockWatch(Duration patience, const Clock& clock = SystemClock())
      : patience_(patience), clock_(clock) {}

  // What names the transaction that holds the lock now; empty when nobody does. kUnavailable, with
  // its Reason, when that one was seen again and again for longer than the patience.
  absl::Status Saw(const std::string& holder);

 private:
  const Duration patience_;
  const Clock& clock_;
  Mutex mutex_;
  std::string holder_ ABSL_GUARDED_BY(mutex_);
  Duration since_ ABSL_GUARDED_BY(mutex_) = Duration::zero();
};

// Thread-safe. Check blocks on the database, at most until its deadline.
class AppendProbe {
 public:
  AppendProbe();

  // One round trip on `connection`. While all is well it looks only now and then, and says ok in
  // between. Fails as the server or the connection does, with kUnavailable when the lock is stuck;
  // the status has a Reason where there is one.
  absl::Status Check(Connection& connection, const Statements& statements, Deadline deadline);

 private:
  LockWatch watch_;
  Mutex mutex_;
  std::optional<Duration> well_at_ ABSL_GUARDED_BY(mutex_);  // When it last was, with a free lock.
};

}  // namespace engine::postgres
