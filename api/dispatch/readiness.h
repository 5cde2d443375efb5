// Readiness: whether this server should be given requests, and if not, why.
//
// A prober asks the store on a thread of its own, several times a second; `/readyz` answers from
// its last result and never waits. So a lost store shows within the ping timeout, and a store that
// came back shows without a restart. Ready means: requests can be served and writes are taken here.
// The probe looks whether an append would get through (Engine::CheckReady); what only a real write
// can tell (a full disk, a synchronous standby that is away) shows by the heartbeat. The reason
// names what ails the store (engine/base/reason.h), never in its own words.

#pragma once

#include <optional>
#include <string>

#include <absl/status/status.h>

#include "api/dispatch/store.h"
#include "api/dispatch/ticker.h"
#include "engine/base/mutex.h"

namespace api {

struct ReadinessOptions {
  // A lost store shows this long after the loss at the latest: a probe has the rest of it.
  engine::Duration ping_timeout = std::chrono::seconds(2);
  engine::Duration ping_interval = std::chrono::milliseconds(100);
  // A result that is older counts for nothing: the prober is stuck.
  engine::Duration max_age = std::chrono::milliseconds(2500);
  // So long after the store last acknowledged a write of ours (the heartbeat's) it takes none.
  engine::Duration max_write_age = std::chrono::seconds(3);
};

// Thread-safe. Never blocks, except for WaitForFirstProbe.
class Readiness {
 public:
  Readiness(Store& store, ReadinessOptions options);

  struct State {
    // `ok`, `not_ready` or `shutting_down`.
    std::string status;
    std::string reason;  // Empty when ok.
    bool ready() const { return status == "ok"; }
  };
  State Get() const;

  // Returns once the store has been asked and written to for the first time, or when a probe had
  // its time.
  void WaitForFirstProbe();
  // Not ready until this was called: all listeners are open.
  void SetServing();
  // From now on `shutting_down`.
  void SetDraining();

 private:
  void Probe();

  Store& store_;
  const ReadinessOptions options_;
  mutable engine::Mutex mutex_;
  engine::CondVar probed_;
  bool serving_ ABSL_GUARDED_BY(mutex_) = false;
  bool draining_ ABSL_GUARDED_BY(mutex_) = false;
  absl::Status last_ ABSL_GUARDED_BY(mutex_);
  std::optional<engine::Duration> last_at_ ABSL_GUARDED_BY(mutex_);  // Since boot.
  Ticker prober_;
};

}  // namespace api
