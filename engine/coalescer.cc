#include "engine/coalescer.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include <absl/status/status.h>

#include "engine/base/guard.h"

namespace engine {
void FlightLoop::Run(std::function<void()> task) const {
  if (run) {
    run(std::move(task));
  } else {
    task();
  }
}

Coalescer::Coalescer(Journal& journal, Follower& follower, CoalescerOptions options)
    : journal_(journal), follower_(follower), state_(std::make_shared<State>(std::move(options))) {
  follower_.Doubt();
  thread_ = Thread("catch-up", [this] { FlyUntilStopped(); });
}

Coalescer::~Coalescer() {
  {
    MutexLock lock(state_->mutex);
    state_->is_stopping = true;
  }
  state_->changed.Signal();
  thread_.Join();
}

void Coalescer::Join(Reader reader) {
  Wait(false, std::move(reader));
}

void Coalescer::JoinProven(Reader reader) {
  Wait(true, std::move(reader));
}

void Coalescer::Wait(bool proven, Reader reader) {
  absl::Status refusal;
  bool is_first = false;
  {
    MutexLock lock(state_->mutex);
    if (state_->is_stopping) {
      refusal = absl::UnavailableError("shutting down");
    } else if (state_->waiting.size() >= options().max_waiters) {
      refusal = absl::ResourceExhaustedError("too many readers wait for the journal");
    } else {
      state_->waiting.push_back({state_->sent, proven, std::move(reader)});
      is_first = !std::exchange(state_->is_asked, true);
    }
  }
  if (!refusal.ok()) {
    reader(refusal);  // NOLINT(bugprone-use-after-move): moved only if it was not refused.
  } else if (is_first) {
    AskToTakeOff();
  }
}

absl::StatusOr<ViewPtr> Coalescer::JoinAndWait() {
  struct Landing {
    Mutex mutex;
    CondVar landed;
    std::optional<absl::StatusOr<ViewPtr>> view ABSL_GUARDED_BY(mutex);
  };
  auto landing = std::make_shared<Landing>();
  Join([landing](const absl::StatusOr<ViewPtr>& view) {
    {
      MutexLock lock(landing->mutex);
      landing->view = view;
    }
    landing->landed.Signal();
  });
  MutexLock lock(landing->mutex);
  while (!landing->view.has_value()) {
    landing->landed.Wait(landing->mutex);
  }
  return *landing->view;
}

Coalescer::Counters Coalescer::counters() const {
  MutexLock lock(state_->mutex);
  return state_->counters;
}

// ---- Taking off ---------------------------------------------------------------------------------

void Coalescer::AskToTakeOff() {
  auto take_off = [this, state = state_] {
    MutexLock lock(state->mutex);
    if (!state->is_stopping) {  // Else this object may be gone.
      state->is_due = state->is_asked;
      TakeOffIfDue(*state);
    }
  };
  options().loop.Run(std::move(take_off));
}

void Coalescer::TakeOffIfDue(State& state) {
  if (!state.is_due || state.is_flying) {
    return;
  }
  // The flight closes here, before its query is sent: who comes later may have seen something
  // acknowledged that the query's snapshot does not hold.
  const std::uint64_t flight = state.sent;
  ++state.sent;
  state.is_asked = state.is_due = false;
  state.is_flying = true;
  if (!options().loop.when_readable || !AskByLoop(state, flight)) {
    state.handed = Handed{flight, std::nullopt};
    state.changed.Signal();
  }
}

bool Coalescer::AskByLoop(State& state, std::uint64_t flight) {
  state.pending = journal_.AskAfter(follower_.cursors());
  state.pending_until = Deadline::After(options().flight_timeout);
  if (state.pending != nullptr && !WatchPending(state, flight)) {
    state.pending = nullptr;
  }
  return state.pending != nullptr;
}

bool Coalescer::WatchPending(State& state, std::uint64_t flight) {
  return options().loop.when_readable(state.pending->descriptor(), [this, shared = state_, flight] {
    Waitings landed;
    absl::StatusOr<Landing> landing = absl::UnavailableError("");
    {
      MutexLock lock(shared->mutex);
      // Else this object may be gone, or the flight was given up.
      if (!shared->is_stopping && shared->pending != nullptr && shared->sent == flight + 1) {
        landed = LandByLoop(*shared, flight, landing);
      }
    }
    Answer(shared, landed, landing);
  });
}

// ---- Landing ------------------------------------------------------------------------------------

Coalescer::Waitings Coalescer::LandByLoop(State& state, std::uint64_t flight,
                                          absl::StatusOr<Landing>& landing) {
  std::optional<absl::StatusOr<News>> news = state.pending->Poll();
  if (!news && WatchPending(state, flight)) {
    return {};
  }
  state.pending = nullptr;
  if (!news || !news->ok() || !follower_.Confirm(**news)) {
    state.handed = Handed{flight, std::move(news)};
    state.changed.Signal();
    return {};
  }
  landing = Landing{follower_.view(), (*news)->origin};
  Waitings landed = Landed(state, flight, true);
  TakeOffIfDue(state);  // The next query is on its way while these are answered.
  return landed;
}

void Coalescer::LandByThread(std::uint64_t flight, absl::StatusOr<Landing> landing) {
  Waitings landed;
  bool is_next_for_loop = false;
  {
    MutexLock lock(state_->mutex);
    landed = Landed(*state_, flight, landing.ok());
    is_next_for_loop = state_->is_due && options().loop.when_readable;
    if (!is_next_for_loop) {
      TakeOffIfDue(*state_);
    }
  }
  if (is_next_for_loop) {
    AskToTakeOff();
  }
  options().loop.Run([state = state_, landed = std::move(landed), landing = std::move(landing)] {
    Answer(state, landed, landing);
  });
}

// The flight is over: who joined before it took off is taken out.
Coalescer::Waitings Coalescer::Landed(State& state, std::uint64_t flight, bool ok) {
  Waitings& waiting = state.waiting;
  const auto later =
      std::stable_partition(waiting.begin(), waiting.end(), [flight](const Waiting& reader) {
        return GUARD("coalescer.closed-at-send", reader.arrived <= flight);
      });
  Waitings landed(std::make_move_iterator(waiting.begin()), std::make_move_iterator(later));
  waiting.erase(waiting.begin(), later);
  state.is_flying = false;
  ++state.counters.flights;
  state.counters.failed += ok ? 0 : 1;
  state.counters.readers += landed.size();
  return landed;
}

// ---- Answering ----------------------------------------------------------------------------------

// The coalescer may be gone when readers run: they and `state` have what they need.
void Coalescer::Answer(const std::shared_ptr<const State>& state, const Waitings& landed,
                       const absl::StatusOr<Landing>& landing) {
  const absl::StatusOr<ViewPtr> view =
      landing.ok() ? absl::StatusOr<ViewPtr>(landing->view) : landing.status();
  auto to_prove = std::make_shared<Waitings>();
  for (const Waiting& waiting : landed) {
    if (waiting.proven) {
      to_prove->push_back(waiting);
    } else {
      waiting.reader(view);
    }
  }
  if (!to_prove->empty()) {
    Prove(state, to_prove, landing);
  }
}

void Coalescer::Prove(const std::shared_ptr<const State>& state,
                      const std::shared_ptr<Waitings>& readers,
                      const absl::StatusOr<Landing>& landing) {
  const auto tell = [readers](const absl::StatusOr<ViewPtr>& view) {
    for (const Waiting& waiting : *readers) {
      waiting.reader(view);
    }
  };
  absl::Status refusal = landing.ok() ? landing->view->Whole() : landing.status();
  if (refusal.ok() && state->options.proof == nullptr) {
    refusal = absl::UnavailableError("nothing proves who answered");
  }
  if (!refusal.ok()) {
    return tell(refusal);
  }
  state->options.proof->Ask(landing->origin, [loop = state->options.loop, tell,
                                              view = landing->view](const absl::Status& proven) {
    loop.Run([tell, view, proven] {
      tell(proven.ok() ? absl::StatusOr<ViewPtr>(view) : absl::StatusOr<ViewPtr>(proven));
    });
  });
}

}  // namespace engine
