// ShutdownLimit ends the process when its own end takes too long.
//
// Whatever was acknowledged is in the store by then and requests that were left had their answer
// or were cut off; what can still hang is waiting for somebody else: for a lock in the database
// that nobody gives up, for a name server. To wait for those would only keep the supervisor
// waiting.

#pragma once

#include <functional>

#include "engine/base/deadline.h"
#include "engine/base/mutex.h"
#include "engine/base/thread.h"

namespace api {

// Make it before what may hang, so that it is destroyed after that. Thread-safe; never blocks for
// long.
class ShutdownLimit {
 public:
  // `end` is called by a thread of its own; the default logs a warning and ends the process with
  // exit code 0, without cleaning up.
  explicit ShutdownLimit(std::function<void()> end = EndProcess);
  // The end came in time.
  ~ShutdownLimit();
  ShutdownLimit(const ShutdownLimit&) = delete;
  ShutdownLimit& operator=(const ShutdownLimit&) = delete;

  // From now on the object has to be gone at `deadline`. REQUIRES: not called before.
  void Start(engine::Deadline deadline);

 private:
  static void EndProcess();
  void Watch(engine::Deadline deadline);

  const std::function<void()> end_;
  engine::Mutex mutex_;
  engine::CondVar changed_;
  bool gone_ ABSL_GUARDED_BY(mutex_) = false;
  engine::Thread thread_;
};

}  // namespace api
