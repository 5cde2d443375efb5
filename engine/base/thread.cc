#include "engine/base/thread.h"

#include <utility>

#include <pthread.h>
#include <sys/resource.h>

namespace engine {

Thread::Thread(std::string name, std::function<void()> body)
    : thread_([name = std::move(name), body = std::move(body)] {
        pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
        body();
      }) {}

void Thread::Join() {
  if (thread_.joinable()) {
    thread_.join();
  }
}

// On Linux a priority is a thread's; 0 is the calling one. 10 gets a tenth of a usual thread's
// time.
void GiveWay() {
  constexpr int kLow = 10;
  setpriority(PRIO_PROCESS, 0, kLow);
}

}  // namespace engine
