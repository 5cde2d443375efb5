#include "engine/base/mutex.h"

namespace engine {

void CondVar::Wait(Mutex& mutex) {
  std::unique_lock<std::mutex> held(mutex.mutex_, std::adopt_lock);
  condition_.wait(held);
  held.release();
}

bool CondVar::WaitUntil(Mutex& mutex, Deadline deadline) {
  std::unique_lock<std::mutex> held(mutex.mutex_, std::adopt_lock);
  bool in_time = true;
  if (deadline.IsInfinite()) {
    condition_.wait(held);
  } else {
    in_time = condition_.wait_for(held, deadline.Remaining()) == std::cv_status::no_timeout;
  }
  held.release();
  return in_time;
}

}  // namespace engine
