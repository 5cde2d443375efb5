#include "engine/coalescer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <absl/status/status.h>

#include "engine/base/guard.h"
#include "engine/base/status_macros.h"

namespace engine {

Coalescer::Coalescer(Journal& journal, Follower& follower, CoalescerOptions options)
    : journal_(journal),
      follower_(follower),
      options_(std::move(options)),
      thread_("catch-up", [this] { FlyUntilStopped(); }) {}

Coalescer::~Coalescer() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  arrived_.Signal();
  thread_.Join();
}

void Coalescer::Join(Reader reader) {
  absl::Status refusal;
  {
    MutexLock lock(mutex_);
    if (stopping_) {
      refusal = absl::UnavailableError("shutting down");
    } else if (waiting_.size() >= options_.max_waiters) {
      refusal = absl::ResourceExhaustedError("too many readers wait for the journal");
    } else {
      waiting_.push_back({sent_, std::move(reader)});
    }
  }
  if (refusal.ok()) {
    arrived_.Signal();
  } else {
    reader(refusal);
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
  MutexLock lock(mutex_);
  return counters_;
}

void Coalescer::FlyUntilStopped() {
  while (true) {
    std::uint64_t flight = 0;
    bool stopping = false;
    {
      MutexLock lock(mutex_);
      while (waiting_.empty() && !stopping_) {
        arrived_.Wait(mutex_);
      }
      if (waiting_.empty()) {
        return;
      }
      stopping = stopping_;
      // The flight closes here, before its query is sent: who comes later may have seen something
      // acknowledged that the query's snapshot does not hold.
      flight = sent_;
      ++sent_;
    }
    absl::StatusOr<ViewPtr> view =
        stopping ? absl::StatusOr<ViewPtr>(absl::UnavailableError("shutting down")) : Fly();
    Land(flight, std::move(view));
  }
}

absl::StatusOr<ViewPtr> Coalescer::Fly() {
  const Deadline deadline = Deadline::After(options_.flight_timeout);
  bool complete = false;
  while (!complete) {
    const Cursors cursors = follower_.cursors();
    ASSIGN_OR_RETURN(const News news, journal_.ReadAfter(cursors, deadline));
    if (!GUARD("coalescer.origin", news.origin == origin_)) {
      RETURN_IF_ERROR(ConfirmHistory(cursors, deadline));
      origin_ = news.origin;
    }
    follower_.Deliver(news);
    complete = news.complete;
    MutexLock lock(mutex_);
    counters_.rows += news.rows.size();
  }
  return follower_.view();
}

absl::Status Coalescer::ConfirmHistory(const Cursors& cursors, Deadline deadline) {
  for (const StreamCursor& cursor : cursors) {
    if (cursor.position == Position::kBeforeFirst) {
      continue;
    }
    ASSIGN_OR_RETURN(const std::vector<Record> row,
                     journal_.ReadStream(cursor.stream, cursor.position, 1, deadline));
    if (row.empty() || row.front().digest != cursor.digest) {
      follower_.Stop(cursor.stream, absl::DataLossError("the history in the store is another one"));
    }
  }
  return absl::OkStatus();
}

void Coalescer::Land(std::uint64_t flight, absl::StatusOr<ViewPtr> view) {
  std::vector<Waiting> landed;
  {
    MutexLock lock(mutex_);
    const auto later =
        std::stable_partition(waiting_.begin(), waiting_.end(), [flight](const Waiting& waiting) {
          return GUARD("coalescer.closed-at-send", waiting.arrived <= flight);
        });
    landed.assign(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(later));
    waiting_.erase(waiting_.begin(), later);
    ++counters_.flights;
    counters_.failed += view.ok() ? 0 : 1;
    counters_.readers += landed.size();
  }
  auto answer = [landed = std::move(landed), view = std::move(view)] {
    for (const Waiting& waiting : landed) {
      waiting.reader(view);
    }
  };
  if (options_.run) {
    options_.run(std::move(answer));
  } else {
    answer();
  }
}

}  // namespace engine
