#include "engine/rebuilder.h"

#include <utility>

#include "engine/base/logging.h"

namespace engine {

Rebuilder::Rebuilder(Journal& journal, Follower& follower, RebuilderOptions options, Random& random)
    : journal_(journal),
      follower_(follower),
      options_(std::move(options)),
      random_(random),
      thread_("rebuild", [this] { RebuildUntilStopped(); }) {
  follower_.SetOnRebuild([state = state_] {
    {
      MutexLock lock(state->mutex);
      state->wanted = true;
    }
    state->changed.SignalAll();
  });
}

Rebuilder::~Rebuilder() {
  {
    MutexLock lock(state_->mutex);
    state_->stopping = true;
    state_->cancelled = true;
  }
  state_->changed.SignalAll();
  thread_.Join();
}

bool Rebuilder::WaitForWanted() {
  MutexLock lock(state_->mutex);
  while (!state_->wanted && !state_->stopping) {
    state_->changed.Wait(state_->mutex);
  }
  state_->wanted = false;
  return !state_->stopping;
}

bool Rebuilder::Pause(Duration time) {
  const Deadline end = Deadline::After(time);
  MutexLock lock(state_->mutex);
  while (!state_->stopping && state_->changed.WaitUntil(state_->mutex, end)) {
  }
  return !state_->stopping;
}

void Rebuilder::RebuildUntilStopped() {
  while (WaitForWanted()) {
    const auto jitter = static_cast<std::uint64_t>(options_.max_jitter.count());
    bool go_on = Pause(Duration(jitter == 0 ? 0 : random_.Below(jitter)));
    while (go_on) {
      const absl::Status refolded =
          follower_.Refold(journal_, Deadline::After(options_.timeout), &state_->cancelled);
      if (refolded.ok()) {
        break;
      }
      Log(Severity::kWarning, "rebuilding failed, trying again", {{"error", refolded.ToString()}});
      go_on = Pause(options_.retry_interval);
    }
    if (go_on && options_.refolded) {
      options_.refolded();
    }
  }
}

}  // namespace engine
