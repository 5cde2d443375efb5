#include "engine/base/thread.h"

#include <utility>

#include <pthread.h>

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

}  // namespace engine
