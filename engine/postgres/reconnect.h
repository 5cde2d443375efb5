// ReconnectGate: how often a database that does not answer is asked again.
//
// While all is well it does nothing. After a connect has failed, one attempt at a time is made;
// whoever else wants a connection waits for the first attempt that begins after it came, and
// shares its outcome. Between two attempts there is a pause that doubles and is cut by chance, so
// that neither the requests of one replica nor the replicas of one fleet fall upon a database in
// the moment it comes back.

#pragma once

#include <cstdint>
#include <functional>

#include <absl/status/status.h>

#include "engine/base/deadline.h"
#include "engine/base/mutex.h"
#include "engine/base/random.h"

namespace engine::postgres {

struct ReconnectOptions {
  Duration first_pause = std::chrono::milliseconds(25);
  Duration longest_pause = std::chrono::milliseconds(500);
};

// Thread-safe. Run blocks.
class ReconnectGate {
 public:
  explicit ReconnectGate(Random& random, const ReconnectOptions& options = {})
      : random_(random), options_(options) {}

  // Runs `connect`, at once or when it is its turn, and returns what it returned; or, when
  // another attempt that began after the call failed, why that failed; or, when `deadline` passes
  // first, why the last one did. A `connect` that fails with kDeadlineExceeded says nothing about
  // the database: the time was too short.
  absl::Status Run(const std::function<absl::Status()>& connect, Deadline deadline);

 private:
  // OK when the caller may try, `is_alone` when nobody else may meanwhile.
  absl::Status WaitForTurn(Deadline deadline, bool& is_alone) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Note(const absl::Status& status) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  Random& random_;
  const ReconnectOptions options_;
  Mutex mutex_;
  CondVar changed_;
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);  // Of the last attempt; OK: all is well.
  bool trying_ ABSL_GUARDED_BY(mutex_) = false;
  std::uint64_t begun_ ABSL_GUARDED_BY(mutex_) = 0;   // Attempts that were made alone.
  std::uint64_t failed_ ABSL_GUARDED_BY(mutex_) = 0;  // The last of them that did.
  Duration pause_ ABSL_GUARDED_BY(mutex_) = Duration::zero();
  Deadline next_ ABSL_GUARDED_BY(mutex_) = Deadline::Infinite();
};

}  // namespace engine::postgres
