#include "engine/coalescer.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include <absl/status/status.h>

#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "engine/history.h"

namespace engine {

Coalescer::Coalescer(Journal& journal, Follower& follower, CoalescerOptions options)
    : journal_(journal), follower_(follower), options_(std::move(options)) {
  follower_.Doubt();
  thread_ = Thread("catch-up", [this] { FlyUntilStopped(); });
}

Coalescer::~Coalescer() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  arrived_.Signal();
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
  {
    MutexLock lock(mutex_);
    if (stopping_) {
      refusal = absl::UnavailableError("shutting down");
    } else if (waiting_.size() >= options_.max_waiters) {
      refusal = absl::ResourceExhaustedError("too many readers wait for the journal");
    } else {
      waiting_.push_back({sent_, proven, std::move(reader)});
    }
  }
  if (refusal.ok()) {
    arrived_.Signal();
  } else {
    reader(refusal);  // NOLINT(bugprone-use-after-move): moved only if it was not refused.
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
    Land(flight,
         stopping ? absl::StatusOr<Landing>(absl::UnavailableError("shutting down")) : Fly());
  }
}

absl::StatusOr<Coalescer::Landing> Coalescer::Fly() {
  const Deadline deadline = Deadline::After(options_.flight_timeout);
  Landing landing;
  bool complete = false;
  while (!complete) {
    ASSIGN_OR_RETURN(const News news, journal_.ReadAfter(follower_.cursors(), deadline));
    const bool believed = follower_.Deliver(news);
    if (!GUARD("coalescer.origin", believed)) {
      RETURN_IF_ERROR(ConfirmHistory(journal_, follower_, deadline));
      continue;
    }
    complete = news.complete;
    landing.origin = news.origin;
    MutexLock lock(mutex_);
    counters_.rows += news.rows.size();
  }
  landing.view = follower_.view();
  return landing;
}

void Coalescer::Land(std::uint64_t flight, const absl::StatusOr<Landing>& landing) {
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
    counters_.failed += landing.ok() ? 0 : 1;
    counters_.readers += landed.size();
  }
  const auto proven = std::stable_partition(landed.begin(), landed.end(),
                                            [](const Waiting& waiting) { return !waiting.proven; });
  std::vector<Waiting> to_prove(std::make_move_iterator(proven),
                                std::make_move_iterator(landed.end()));
  landed.erase(proven, landed.end());
  if (!landed.empty()) {
    Answer(std::move(landed), landing.ok() ? absl::StatusOr<ViewPtr>(landing->view)
                                           : absl::StatusOr<ViewPtr>(landing.status()));
  }
  if (!to_prove.empty()) {
    AnswerProven(std::move(to_prove), landing);
  }
}

void Coalescer::Answer(std::vector<Waiting> landed, const absl::StatusOr<ViewPtr>& view) const {
  auto answer = [landed = std::move(landed), view] {
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

// The answer may come after this object is gone: it keeps what it needs.
void Coalescer::AnswerProven(std::vector<Waiting> landed,
                             const absl::StatusOr<Landing>& landing) const {
  absl::Status refusal = landing.status();
  if (refusal.ok()) {
    refusal = landing->view->Whole();
  }
  if (refusal.ok() && options_.proof == nullptr) {
    refusal = absl::UnavailableError("nothing proves who answered");
  }
  if (!refusal.ok()) {
    Answer(std::move(landed), refusal);
    return;
  }
  options_.proof->Ask(landing->origin, [view = landing->view, run = options_.run,
                                        readers = std::make_shared<std::vector<Waiting>>(
                                            std::move(landed))](const absl::Status& proven) {
    auto answer = [readers, view, proven] {
      for (const Waiting& waiting : *readers) {
        waiting.reader(proven.ok() ? absl::StatusOr<ViewPtr>(view)
                                   : absl::StatusOr<ViewPtr>(proven));
      }
    };
    if (run) {
      run(std::move(answer));
    } else {
      answer();
    }
  });
}

}  // namespace engine
