#include "bench/support/loop.h"

#include <algorithm>

namespace bench {
namespace {

void ReportLoop(benchmark::State& state, engine::Duration took, std::vector<double>& micros) {
  const LoopSummary summary = Summarize(took, micros);
  state.SetIterationTime(summary.seconds);
  state.counters["rate"] = summary.rate;
  state.counters["p50_us"] = summary.p50_us;
  state.counters["p99_us"] = summary.p99_us;
}

}  // namespace

LoopSummary Summarize(engine::Duration took, std::vector<double>& micros) {
  LoopSummary summary{.seconds = std::chrono::duration<double>(took).count()};
  if (!micros.empty()) {
    std::ranges::sort(micros);
    summary.rate = static_cast<double>(micros.size()) / summary.seconds;
    summary.p50_us = micros[micros.size() / 2];
    summary.p99_us = micros[micros.size() * 99 / 100];
  }
  return summary;
}

engine::Duration Now() {
  return engine::SystemClock().SinceBoot();
}

void Pause(engine::Duration length) {
  engine::Mutex mutex;
  engine::CondVar never;
  const auto end = engine::Deadline::After(length);
  engine::MutexLock lock(mutex);
  while (never.WaitUntil(mutex, end)) {
  }
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
  const engine::Duration took = Now() - began;
  engine::MutexLock lock(mutex_);
  ReportLoop(state, took, micros_);
}

Rounds::Rounds(int clients, engine::Duration length)
    : began_(Now()), length_(length), fresh_(clients), clients_(clients) {}

bool Rounds::Next() {
  const engine::Duration now = Now();
  engine::MutexLock lock(mutex_);
  if (fresh_ > 0) {
    --fresh_;
    return true;
  }
  if (now - began_ < length_) {
    return true;
  }
  ended_ = now;
  if (--clients_ == 0) {
    over_.SignalAll();
  }
  return false;
}

void Rounds::Done(engine::Duration began) {
  const double micros = std::chrono::duration<double, std::micro>(Now() - began).count();
  engine::MutexLock lock(mutex_);
  micros_.push_back(micros);
}

void Rounds::Wait() {
  engine::MutexLock lock(mutex_);
  while (clients_ > 0) {
    over_.Wait(mutex_);
  }
}

void Rounds::Report(benchmark::State& state) {
  engine::MutexLock lock(mutex_);
  ReportLoop(state, ended_ - began_, micros_);
}

}  // namespace bench
