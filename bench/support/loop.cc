#include "bench/support/loop.h"

#include <algorithm>

namespace bench {

engine::Duration Now() {
  return engine::SystemClock().SinceBoot();
}

bool Laps::Take() {
  engine::MutexLock lock(mutex_);
  if (taken_ == total_) {
    return false;
  }
  ++taken_;
  return true;
}

void Laps::Done(engine::Duration began) {
  const double micros = std::chrono::duration<double, std::micro>(Now() - began).count();
  engine::MutexLock lock(mutex_);
  micros_.push_back(micros);
  if (micros_.size() == total_) {
    over_.SignalAll();
  }
}

void Laps::Wait() {
  engine::MutexLock lock(mutex_);
  while (micros_.size() < total_) {
    over_.Wait(mutex_);
  }
}

void Laps::Report(benchmark::State& state, engine::Duration began) {
  const double seconds = std::chrono::duration<double>(Now() - began).count();
  engine::MutexLock lock(mutex_);
  std::ranges::sort(micros_);
  state.SetIterationTime(seconds);
  state.counters["rate"] = static_cast<double>(total_) / seconds;
  state.counters["p50_us"] = micros_[micros_.size() / 2];
  state.counters["p99_us"] = micros_[micros_.size() * 99 / 100];
}

}  // namespace bench
