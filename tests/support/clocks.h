// Clocks that stand still until a test moves them. All are thread-safe.

#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "engine/base/clock.h"

namespace support {

// Wall time by hand. Boot time is the machine's, so that deadlines pass as they do.
class WallClock final : public engine::Clock {
 public:
  explicit WallClock(engine::Timestamp now) : micros_(now.micros) {}

  engine::Timestamp Now() const override { return {micros_}; }
  engine::Duration SinceBoot() const override { return engine::SystemClock().SinceBoot(); }

  void Set(engine::Timestamp now) { micros_ = now.micros; }
  void Advance(engine::Duration by) {
    micros_ += std::chrono::duration_cast<std::chrono::microseconds>(by).count();
  }

 private:
  std::atomic<std::int64_t> micros_;
};

// Both by hand. Whoever waits for a deadline wakes up now and then in real time and looks again.
class HandClock final : public engine::Clock {
 public:
  engine::Timestamp Now() const override { return {nanos_ / 1000}; }
  engine::Duration SinceBoot() const override { return engine::Duration(nanos_); }

  void Set(engine::Duration since_boot) { nanos_ = since_boot.count(); }
  void Advance(engine::Duration by) { nanos_ += by.count(); }

 private:
  std::atomic<engine::Duration::rep> nanos_ = engine::Duration(std::chrono::hours(1)).count();
};

}  // namespace support
