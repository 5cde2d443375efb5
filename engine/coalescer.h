// Coalescer lets any number of waiting readers share one catch-up that was sent after they
// arrived (a flight).
//
// Two slots: the flight under way, which nobody can join any more, and the next one, which is
// open. A reader that joined before a flight's query was sent is answered by it; one that came
// later waits for the next, because the store may have taken its snapshot already. A flight
// belongs to the coalescer and has its own deadline: no reader's patience kills it. An error fails
// the readers of that flight and is not remembered.
//
// When another life of the store answers than last time (a restart, a failover, another database in
// its place), the digests at all cursors are compared before its news is believed: equal means that
// what was folded is a prefix of this history; a stream that differs, or ends before its cursor, is
// stopped.

#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include <absl/status/statusor.h>

#include "engine/base/mutex.h"
#include "engine/base/thread.h"
#include "engine/follower.h"
#include "engine/journal.h"

namespace engine {

struct CoalescerOptions {
  Duration flight_timeout = std::chrono::seconds(5);
  // Readers waiting at once; one more is refused with kResourceExhausted.
  std::size_t max_waiters = 4096;
  // Runs the readers of one flight, all in one call. The default runs them on the flight's
  // thread; a server hands them to its event loop.
  std::function<void(std::function<void()>)> run = {};
};

// Thread-safe. Join never blocks.
class Coalescer {
 public:
  // The view after the flight; or why there is none: whatever is decided on it must be refused.
  using Reader = std::function<void(const absl::StatusOr<ViewPtr>&)>;

  Coalescer(Journal& journal, Follower& follower, CoalescerOptions options);
  // Fails the readers that still wait with kUnavailable.
  ~Coalescer();

  // Calls `reader` once, after the next flight.
  void Join(Reader reader);
  // For tools and tests: joins and waits.
  absl::StatusOr<ViewPtr> JoinAndWait();

  struct Counters {
    std::uint64_t flights = 0;  // Sent.
    std::uint64_t failed = 0;
    std::uint64_t readers = 0;  // Answered by one.
    std::uint64_t rows = 0;     // Fetched.
  };
  Counters counters() const;

 private:
  struct Waiting {
    std::uint64_t arrived;  // Flights that had been sent by then.
    Reader reader;
  };

  void FlyUntilStopped();
  absl::StatusOr<ViewPtr> Fly();
  absl::Status ConfirmHistory(const Cursors& cursors, Deadline deadline);
  void Land(std::uint64_t flight, absl::StatusOr<ViewPtr> view);

  Journal& journal_;
  Follower& follower_;
  const CoalescerOptions options_;
  mutable Mutex mutex_;
  CondVar arrived_;
  std::vector<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);  // Ascending by `arrived`.
  std::uint64_t sent_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  Counters counters_ ABSL_GUARDED_BY(mutex_);
  std::optional<Origin> origin_;  // Whose history was confirmed. Of the flight's thread.
  Thread thread_;
};

}  // namespace engine
