#include "engine/clock_skew.h"

#include <cmath>

#include "engine/base/logging.h"

namespace engine {
namespace {

constexpr double kMicros = 1e6;

}  // namespace

void ClockSkew::Observe(Timestamp sent, Timestamp received, Timestamp store) {
  const double half_trip = static_cast<double>(received.micros - sent.micros) / 2;
  const double skew = (static_cast<double>(store.micros - sent.micros) - half_trip) / kMicros;
  const double certain = std::abs(skew) - std::abs(half_trip) / kMicros;
  const bool large = certain > std::chrono::duration<double>(kWarnAbove).count();
  bool warn = false;
  {
    MutexLock lock(mutex_);
    seconds_ = skew;
    warn = large && !warned_;
    warned_ = large;
  }
  if (warn) {
    Log(Severity::kWarning, "the clocks of this machine and of the store are far apart",
        {{"seconds", static_cast<std::int64_t>(std::llround(skew))}});
  }
}

std::optional<double> ClockSkew::seconds() const {
  MutexLock lock(mutex_);
  return seconds_;
}

}  // namespace engine
