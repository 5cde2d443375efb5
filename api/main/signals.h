// Signals: SIGTERM and SIGINT as something to wait for.

#pragma once

#include <atomic>

#include "engine/base/mutex.h"
#include "engine/base/thread.h"

namespace api {

// Make it first, before any other thread, so that all of them leave the signals to this one.
//
// Until Arm is called a signal ends the process at once with exit code 128 + its number, for at
// start there is nothing to finish. So does the second signal: whoever repeats it means it.
// SIGHUP asks a server to read its policy again; this one has none yet, and goes on.
class Signals {
 public:
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  // From now on the first signal is for Wait.
  void Arm();
  // Blocks until the first signal and returns its number. REQUIRES: armed.
  int Wait();

 private:
  void Listen();

  std::atomic<bool> ending_{false};
  engine::Mutex mutex_;
  engine::CondVar came_;
  bool armed_ ABSL_GUARDED_BY(mutex_) = false;
  int signal_ ABSL_GUARDED_BY(mutex_) = 0;
  engine::Thread thread_;
};

}  // namespace api
