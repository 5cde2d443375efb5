#include "api/main/signals.h"

#include <csignal>

#include <unistd.h>

#include "engine/base/logging.h"

namespace api {
namespace {

constexpr int kEnd = SIGUSR1;  // Of ours, to end the listening thread.

sigset_t Handled() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGHUP);
  sigaddset(&set, kEnd);
  return set;
}

// Blocks the signals in the thread that makes the Signals, before it starts another.
void BlockAll() {
  const sigset_t set = Handled();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
}

}  // namespace

Signals::Signals() {
  BlockAll();
  thread_ = engine::Thread("signals", [this] { Listen(); });
}

Signals::~Signals() {
  ending_ = true;
  kill(getpid(), kEnd);
  thread_.Join();
}

void Signals::Arm() {
  engine::MutexLock lock(mutex_);
  armed_ = true;
}

int Signals::Wait() {
  engine::MutexLock lock(mutex_);
  while (signal_ == 0) {
    came_.Wait(mutex_);
  }
  return signal_;
}

void Signals::Listen() {
  const sigset_t set = Handled();
  while (true) {
    int number = 0;
    if (sigwait(&set, &number) != 0) {
      continue;
    }
    if (number == SIGHUP) {
      engine::Log(engine::Severity::kInfo, "nothing to reload", {{"signal", number}});
      continue;
    }
    if (number == kEnd) {
      if (ending_) {
        return;
      }
      continue;
    }
    engine::MutexLock lock(mutex_);
    if (!armed_ || signal_ != 0) {
      _exit(128 + number);
    }
    signal_ = number;
    came_.SignalAll();
  }
}

}  // namespace api
