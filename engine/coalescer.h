// Coalescer lets any number of waiting readers share one catch-up that was sent after they
// arrived (a flight).
//
// Two slots: the flight under way, which nobody can join any more, and the next one, which is
// open. A reader that joined before a flight's query was sent is answered by it; one that came
// later waits for the next, because the store may have taken its snapshot already. A flight
// belongs to the coalescer and has its own deadline: no reader's patience kills it. An error fails
// the readers of that flight and is not remembered.
//
// Where there is an event loop, the loop itself sends a flight's query and takes its answer, and
// hands over to the flight's thread whatever may block: connecting, folding, comparing histories.
// A flight without news so costs two changes of threads instead of four. It takes off behind what
// the loop has at hand, so that readers whose requests came together fly together.
//
// When another life of the store answers than last time (a restart, a failover, another database in
// its place), its history is compared before its news is believed: see engine/history.h.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <absl/status/statusor.h>

#include "engine/base/mutex.h"
#include "engine/base/thread.h"
#include "engine/follower.h"
#include "engine/journal.h"
#include "engine/proof.h"

namespace engine {

// What the coalescer uses of a server's event loop, one thread. What the loop never runs, because
// it ends, is dropped.
struct FlightLoop {
  // Runs a task behind what the loop has at hand. Thread-safe. Empty: there is no loop; readers run
  // on the flight's thread.
  std::function<void(std::function<void()>)> run = {};
  // Runs `task` once when the descriptor can be read, also when that was closed meanwhile. On the
  // loop's thread only. False: it cannot. Empty: flights are left to their thread.
  std::function<bool(int descriptor, std::function<void()> task)> when_readable = {};

  // By `run`, or at once where there is no loop.
  void Run(std::function<void()> task) const;
};

struct CoalescerOptions {
  Duration flight_timeout = std::chrono::seconds(5);
  // Readers waiting at once; one more is refused with kResourceExhausted.
  std::size_t max_waiters = 4096;
  // The readers of one flight run in one task of it.
  FlightLoop loop = {};
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
  using Waitings = std::vector<Waiting>;
  struct Landing {
    ViewPtr view;
    Origin origin;  // Of the last answer.
  };
  // A flight that is left to the thread, and the answer that the loop got already.
  struct Handed {
    std::uint64_t flight;
    std::optional<absl::StatusOr<News>> news;
  };

  // Shared with what the event loop may still have to run when the coalescer is gone.
  struct State {
    explicit State(CoalescerOptions its_options) : options(std::move(its_options)) {}

    const CoalescerOptions options;
    Mutex mutex;
    CondVar changed;
    Waitings waiting ABSL_GUARDED_BY(mutex);        // Ascending by `arrived`.
    std::uint64_t sent ABSL_GUARDED_BY(mutex) = 0;  // Flights.
    // A flight is asked for, then due, then flying, by the loop (`pending`) or the thread.
    bool is_asked ABSL_GUARDED_BY(mutex) = false;
    bool is_due ABSL_GUARDED_BY(mutex) = false;
    bool is_flying ABSL_GUARDED_BY(mutex) = false;
    std::unique_ptr<PendingNews> pending ABSL_GUARDED_BY(mutex);
    Deadline pending_until ABSL_GUARDED_BY(mutex) = Deadline::Infinite();
    std::optional<Handed> handed ABSL_GUARDED_BY(mutex);
    bool is_stopping ABSL_GUARDED_BY(mutex) = false;
    Counters counters ABSL_GUARDED_BY(mutex);
  };

  const CoalescerOptions& options() const { return state_->options; }
  void Wait(bool proven, Reader reader);
  void AskToTakeOff();
  void TakeOffIfDue(State& state) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mutex);
  bool AskByLoop(State& state, std::uint64_t flight) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mutex);
  bool WatchPending(State& state, std::uint64_t flight) ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mutex);
  Waitings LandByLoop(State& state, std::uint64_t flight, absl::StatusOr<Landing>& landing)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mutex);

  void FlyUntilStopped();
  std::optional<Handed> NextHanded();
  absl::StatusOr<Landing> Fly(std::optional<absl::StatusOr<News>> first);
  void LandByThread(std::uint64_t flight, absl::StatusOr<Landing> landing);

  static Waitings Landed(State& state, std::uint64_t flight, bool ok)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(state.mutex);
  static void Answer(const std::shared_ptr<const State>& state, const Waitings& landed,
                     const absl::StatusOr<Landing>& landing);
  static void Prove(const std::shared_ptr<const State>& state,
                    const std::shared_ptr<Waitings>& readers,
                    const absl::StatusOr<Landing>& landing);

  Journal& journal_;
  Follower& follower_;
  const std::shared_ptr<State> state_;
  Thread thread_;
};

}  // namespace engine
