// Rebuilder reads again, in the background, the streams that a follower forgot.
//
// After Follower::Rebuild it waits a moment (all replicas see a changed history at once, and need
// not read it at once), refolds what was forgotten, and calls `refolded`, which should see to it
// that news is asked for: the streams are shown again with the next whole cut. A store that cannot
// be read is asked again, for as long as it takes.

#pragma once

#include <atomic>
#include <functional>
#include <memory>

#include "engine/base/mutex.h"
#include "engine/base/random.h"
#include "engine/base/thread.h"
#include "engine/follower.h"
#include "engine/journal.h"

namespace engine {

struct RebuilderOptions {
  // A rebuild starts after up to this long.
  Duration max_jitter = std::chrono::milliseconds(500);
  // Between two attempts when the store cannot be read.
  Duration retry_interval = std::chrono::milliseconds(500);
  // An attempt takes no longer.
  Duration timeout = std::chrono::hours(1);
  // May be empty. Must not block.
  std::function<void()> refolded = {};
};

// Has a thread of its own. The follower must outlive it, and whatever `refolded` uses.
class Rebuilder {
 public:
  Rebuilder(Journal& journal, Follower& follower, RebuilderOptions options,
            Random& random = SystemRandom());
  // Breaks off an attempt that is under way.
  ~Rebuilder();
  Rebuilder(const Rebuilder&) = delete;
  Rebuilder& operator=(const Rebuilder&) = delete;

 private:
  // Shared with the follower, which may tell of a rebuild while this ends.
  struct State {
    Mutex mutex;
    CondVar changed;
    bool wanted ABSL_GUARDED_BY(mutex) = false;
    bool stopping ABSL_GUARDED_BY(mutex) = false;
    std::atomic<bool> cancelled = false;
  };

  void RebuildUntilStopped();
  bool WaitForWanted();
  // False: it is time to end.
  bool Pause(Duration time);

  Journal& journal_;
  Follower& follower_;
  const RebuilderOptions options_;
  Random& random_;
  const std::shared_ptr<State> state_ = std::make_shared<State>();
  Thread thread_;
};

}  // namespace engine
