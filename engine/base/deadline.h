// Deadline: the moment after which an answer is of no use to the one who asked.
//
// A point on the boot clock, passed by value down every call that can block. Deadlines nest: a
// callee may stop earlier, never later.

#pragma once

#include <algorithm>
#include <compare>

#include "engine/base/clock.h"

namespace engine {

class Deadline {
 public:
  // Never passes. For tools and tests; a request always has a real one.
  static Deadline Infinite() { return Deadline(nullptr, Duration::max()); }
  static Deadline After(Duration wait, const Clock& clock = SystemClock()) {
    return Deadline(&clock, clock.SinceBoot() + wait);
  }

  bool IsInfinite() const { return clock_ == nullptr; }
  bool HasPassed() const { return clock_ != nullptr && clock_->SinceBoot() >= at_; }

  // Zero once it has passed; about 292 years when infinite.
  Duration Remaining() const {
    if (clock_ == nullptr) {
      return Duration::max();
    }
    return std::max(Duration::zero(), at_ - clock_->SinceBoot());
  }

  Deadline EarlierOf(Deadline other) const { return other.at_ < at_ ? other : *this; }
  bool operator<(const Deadline& other) const { return at_ < other.at_; }

 private:
  Deadline(const Clock* clock, Duration at) : clock_(clock), at_(at) {}

  const Clock* clock_;
  Duration at_;
};

}  // namespace engine
