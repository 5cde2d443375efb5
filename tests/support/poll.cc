#include "tests/support/poll.h"

#include "engine/base/mutex.h"

namespace support {

bool WaitFor(const std::function<bool()>& condition, engine::Deadline deadline,
             engine::Duration interval) {
  engine::Mutex mutex;
  engine::CondVar never;
  while (!condition()) {
    if (deadline.HasPassed()) {
      return false;
    }
    engine::MutexLock lock(mutex);
    never.WaitUntil(mutex, engine::Deadline::After(interval).EarlierOf(deadline));
  }
  return true;
}

}  // namespace support
