// Closed loops: so many clients, each of which asks again as soon as it is answered.

#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <benchmark/benchmark.h>

#include "engine/base/mutex.h"

namespace bench {

// What came of a loop.
struct LoopSummary {
  double seconds = 0;
  double rate = 0;  // Laps a second.
  double p50_us = 0;
  double p99_us = 0;
};
// Sorts the latencies. All zero where there are none.
LoopSummary Summarize(engine::Duration took, std::vector<double>& micros);

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

// A loop that lasts for a time instead of a number of laps. Thread-safe.
//
//   while (rounds.Next()) { ask; rounds.Done(began); }
class Rounds {
 public:
  // Each client asks at least once, and no more when `length` is over.
  Rounds(int clients, engine::Duration length);

  // What a client calls before each of its rounds; false: it is over for that client.
  bool Next();
  // A round that began at `began` (boot clock) is over.
  void Done(engine::Duration began);
  // Blocks until it is over for every client.
  void Wait();

  // As of Laps. REQUIRES: it is over for every client.
  void Report(benchmark::State& state);

 private:
  const engine::Duration began_;
  const engine::Duration length_;
  engine::Mutex mutex_;
  engine::CondVar over_;
  int fresh_ ABSL_GUARDED_BY(mutex_);    // Clients that have not asked yet.
  int clients_ ABSL_GUARDED_BY(mutex_);  // That still go round.
  engine::Duration ended_ ABSL_GUARDED_BY(mutex_) = {};
  std::vector<double> micros_ ABSL_GUARDED_BY(mutex_);
};

engine::Duration Now();
// Blocks for that long.
void Pause(engine::Duration length);

}  // namespace bench
