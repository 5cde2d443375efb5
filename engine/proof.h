// Proof: whether the server that answers us is still the one that may decide.
//
// No query can tell: a server that was replaced goes on answering for a while. A commit can, where
// commits need a second machine: the replaced server would not acknowledge it. So a security
// decision rests on a flight that was answered by the life of the store that acknowledged a commit
// of ours (a heartbeat, or any append) that was sent within the last second. What that bounds:
// docs/guarantees.md, P5.

#pragma once

#include <functional>
#include <optional>
#include <vector>

#include <absl/status/status.h>

#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/journal.h"

namespace engine {

// Thread-safe. Never blocks.
class Proof {
 public:
  // Told once: ok, or why the flight's answer proves nothing. Runs on the thread of whoever tells
  // Acknowledged or Failed, or on that of Ask; must not block.
  using Asker = std::function<void(const absl::Status&)>;

  // A commit that was sent longer than `bound` ago proves nothing any more.
  explicit Proof(Duration bound = std::chrono::seconds(1), const Clock& clock = SystemClock())
      : bound_(bound), clock_(clock) {}
  // Denies whoever still waits.
  ~Proof();

  // This life acknowledged a commit that was sent at `sent`: boot time, read before it was sent,
  // so that a process that was stopped in between does not take an old answer for a new one.
  void Acknowledged(const Origin& origin, Duration sent);
  // A commit that was to prove something was not acknowledged: denies whoever waits for it.
  void Failed(const absl::Status& why);

  // Whether an answer of this life proves something now.
  absl::Status Check(const Origin& origin) const;
  // Calls `asker` with Check, at once if that is ok, else after the next commit: a heartbeat that
  // came late is no reason to deny.
  void Ask(const Origin& origin, Asker asker);
  // Called when somebody waits for a commit, under a lock: it must not call back. Not called any
  // more once another one was set.
  void SetOnWanted(std::function<void()> on_wanted);

  // Not ok: nothing is proven, whoever answers, until it is ok again.
  void SetObjection(absl::Status objection);

  // How long ago the newest acknowledged commit was sent; empty before the first.
  std::optional<Duration> Age() const;

 private:
  struct Waiting {
    Origin origin;
    Asker asker;
  };

  absl::Status CheckLocked(const Origin& origin) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Duration bound_;
  const Clock& clock_;
  mutable Mutex mutex_;
  std::function<void()> on_wanted_ ABSL_GUARDED_BY(mutex_);
  std::optional<Origin> origin_ ABSL_GUARDED_BY(mutex_);
  Duration sent_ ABSL_GUARDED_BY(mutex_) = Duration::zero();
  absl::Status objection_ ABSL_GUARDED_BY(mutex_);
  std::vector<Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace engine
