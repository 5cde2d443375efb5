#include "api/dispatch/ticker.h"

#include <utility>

namespace api {

Ticker::Ticker(std::string name, engine::Duration interval, std::function<void()> tick)
    : interval_(interval),
      tick_(std::move(tick)),
      thread_(std::move(name), [this] { TickUntilStopped(); }) {}

Ticker::~Ticker() {
  {
    engine::MutexLock lock(mutex_);
    stopping_ = true;
  }
  stopped_.SignalAll();
  thread_.Join();
}

void Ticker::TickUntilStopped() {
  while (true) {
    tick_();
    const auto next = engine::Deadline::After(interval_);
    engine::MutexLock lock(mutex_);
    while (!stopping_ && stopped_.WaitUntil(mutex_, next)) {
    }
    if (stopping_) {
      return;
    }
  }
}

}  // namespace api
