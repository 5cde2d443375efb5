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
// its place), its history is compared before its news is believed: see engine/history.h.

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <absl/status/statusor.h>

#include "engine/base/mutex.h"
#include "engine/base/thread.h"
#include "engine/follower.h"
#include "engine/journal.h"
#include "engine/proof.h"

namespace engine {

struct CoalescerOptions {
  Duration flight_timeout = std::chrono::seconds(5);
  // Readers waiting at once; one more is refused with kResourceExhausted.
  std::size_t max_waiters = 4096;
  // Runs the readers of one flight, all in one call. The default runs them on the flight's
  // thread; a server hands them to its event loop.
  std::function<void(std::function<void()>)> run = {};
  // For JoinProven; must outlive the coalescer. Null: nothing is ever proven.
  Proof* proof = nullptr;
};

// Thread-safe. Join and JoinProven never block.
class Coalescer {
 public:
  // The view after the flight; or why there is none: whatever is decided on it must be refused.
  using Reader = std::function<void(const absl::StatusOr<ViewPtr>&)>;

  // The first flight confirms the history that was replayed.
  Coalescer(Journal& journal, Follower& follower, CoalescerOptions options);
  // Fails the readers that still wait with kUnavailable.
  ~Coalescer();

  // Calls `reader` once, after the next flight.
  void Join(Reader reader);
  // As Join, but the view is given only if the flight was answered by the life of the store that
  // acknowledged a commit of ours just now (engine/proof.h) and no stream is being rebuilt;
  // kUnavailable otherwise: deny. May wait for the next commit after the flight.
  void JoinProven(Reader reader);
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
    bool proven;
    Reader reader;
  };
  struct Landing {
    ViewPtr view;
    Origin origin;  // Of the last answer.
  };

  void Wait(bool proven, Reader reader);
  void FlyUntilStopped();
  absl::StatusOr<Landing> Fly();
  void Land(std::uint64_t flight, const absl::StatusOr<Landing>& landing);
  void Answer(std::vector<Waiting> landed, const absl::StatusOr<ViewPtr>& view) const;
  void AnswerProven(std::vector<Waiting> landed, const absl::StatusOr<Landing>& landing) const;

  Journal& journal_;
  Follower& follower_;
  const CoalescerOptions options_;
  mutable Mutex mutex_;
  CondVar arrived_;
  std::vector<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);  // Ascending by `arrived`.
  std::uint64_t sent_ ABSL_GUARDED_BY(mutex_) = 0;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  Counters counters_ ABSL_GUARDED_BY(mutex_);
  Thread thread_;
};

}  // namespace engine
