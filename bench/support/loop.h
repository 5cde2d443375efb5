// Closed loops: so many clients, each of which asks again as soon as it is answered.

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <benchmark/benchmark.h>

#include "engine/base/mutex.h"

namespace bench {

// Latencies of one loop and its end. Thread-safe.
class Laps {
 public:
  explicit Laps(std::size_t total) : total_(total) {}

  // Takes the next lap; false when all have been taken.
  bool Take();
  // A lap that began at `began` (boot clock) is over.
  void Done(engine::Duration began);
  // Blocks until all laps are over.
  void Wait();

  // Sets the counters rate, p50_us and p99_us, and the iteration's time.
  void Report(benchmark::State& state, engine::Duration began);

 private:
  const std::size_t total_;
  engine::Mutex mutex_;
  engine::CondVar over_;
  std::size_t taken_ ABSL_GUARDED_BY(mutex_) = 0;
  std::vector<double> micros_ ABSL_GUARDED_BY(mutex_);
};

engine::Duration Now();

}  // namespace bench
