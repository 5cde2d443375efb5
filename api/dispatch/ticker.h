// Ticker: calls a function again and again on a thread of its own.

#pragma once

#include <functional>
#include <string>

#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/base/thread.h"

namespace api {

// The function may block; the next call comes `interval` after the last one returned. Destruction
// waits for a call under way.
class Ticker {
 public:
  // The first call comes at once.
  Ticker(std::string name, engine::Duration interval, std::function<void()> tick);
  ~Ticker();
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

 private:
  void TickUntilStopped();

  const engine::Duration interval_;
  const std::function<void()> tick_;
  engine::Mutex mutex_;
  engine::CondVar stopped_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  engine::Thread thread_;
};

}  // namespace api
