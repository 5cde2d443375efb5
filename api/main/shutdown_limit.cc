#include "api/main/shutdown_limit.h"

#include <utility>

#include <unistd.h>

#include "engine/base/guard.h"
#include "engine/base/logging.h"

namespace api {

ShutdownLimit::ShutdownLimit(std::function<void()> end) : end_(std::move(end)) {}

ShutdownLimit::~ShutdownLimit() {
  {
    engine::MutexLock lock(mutex_);
    gone_ = true;
  }
  changed_.SignalAll();
  thread_.Join();
}

void ShutdownLimit::Start(engine::Deadline deadline) {
  thread_ = engine::Thread("shutdown-limit", [this, deadline] { Watch(deadline); });
}

void ShutdownLimit::Watch(engine::Deadline deadline) {
  {
    engine::MutexLock lock(mutex_);
    while (!gone_ && !deadline.HasPassed()) {
      changed_.WaitUntil(mutex_, deadline);
    }
    if (GUARD("shutdown.limit", gone_)) {
      return;
    }
  }
  end_();
}

void ShutdownLimit::EndProcess() {
  engine::SetLogSink({});  // The usual one hands lines to a thread, which will not get to it.
  engine::Log(engine::Severity::kWarning, "shutdown cut short: something did not end in time", {});
  _exit(0);
}

}  // namespace api
