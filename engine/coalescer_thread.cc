// The thread of the coalescer: flights that may block, and flights that take too long.

#include <utility>

#include <absl/status/status.h>

#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "engine/coalescer.h"
#include "engine/history.h"

namespace engine {

void Coalescer::FlyUntilStopped() {
  while (std::optional<Handed> handed = NextHanded()) {
    LandByThread(handed->flight, Fly(std::move(handed->news)));
  }
  Waitings refused;
  {
    MutexLock lock(state_->mutex);
    state_->pending = nullptr;
    refused.swap(state_->waiting);
  }
  options().loop.Run([state = state_, refused = std::move(refused)] {
    Answer(state, refused, absl::UnavailableError("shutting down"));
  });
}

// Waits for a flight that is left to the thread; nothing when the coalescer stops. Flights of the
// loop are given up when they take too long: it looks for these often enough.
std::optional<Coalescer::Handed> Coalescer::NextHanded() {
  MutexLock lock(state_->mutex);
  while (!state_->is_stopping) {
    if (state_->handed) {
      return std::exchange(state_->handed, std::nullopt);
    }
    const bool is_pending = state_->pending != nullptr;
    if (is_pending && state_->pending_until.HasPassed()) {
      state_->pending = nullptr;
      return Handed{state_->sent - 1,
                    absl::DeadlineExceededError("the store did not answer in time")};
    }
    state_->changed.WaitUntil(state_->mutex, is_pending
                                                 ? state_->pending_until
                                                 : Deadline::After(options().flight_timeout));
  }
  return std::nullopt;
}

absl::StatusOr<Coalescer::Landing> Coalescer::Fly(std::optional<absl::StatusOr<News>> first) {
  const Deadline deadline = Deadline::After(options().flight_timeout);
  Landing landing;
  bool complete = false;
  while (!complete) {
    ASSIGN_OR_RETURN(const News news, first ? *std::exchange(first, std::nullopt)
                                            : journal_.ReadAfter(follower_.cursors(), deadline));
    const bool believed = follower_.Deliver(news);
    if (!GUARD("coalescer.origin", believed)) {
      RETURN_IF_ERROR(ConfirmHistory(journal_, follower_, deadline));
      continue;
    }
    complete = news.complete;
    landing.origin = news.origin;
    MutexLock lock(state_->mutex);
    state_->counters.rows += news.rows.size();
  }
  landing.view = follower_.view();
  return landing;
}

}  // namespace engine
