// Thread: a named thread that is joined by its owner.
//
// The only way to start a thread. A simulation build replaces the type by a task of its seeded
// scheduler.

#pragma once

#include <functional>
#include <string>
#include <thread>

namespace engine {

// Joined on destruction: make sure its body ends (close the queue it waits on) before that.
class Thread {
 public:
  Thread() = default;
  // `name` shows in debuggers and `top -H`; at most 15 characters are kept.
  Thread(std::string name, std::function<void()> body);
  ~Thread() { Join(); }
  Thread(Thread&&) = default;
  Thread& operator=(Thread&& other) noexcept {
    Join();
    thread_ = std::move(other.thread_);
    return *this;
  }

  // Waits until the body returned. A second call does nothing.
  void Join();

 private:
  std::thread thread_;
};

// From now on the calling thread gets a processor only where no other of this process wants it, as
// far as the system goes along. Cannot be taken back.
void GiveWay();

}  // namespace engine
