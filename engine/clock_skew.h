// ClockSkew: how far this machine's wall clock is from the store's, from answers that carry the
// store's time.
//
// Nothing that is promised rests on the two being equal. A large difference still shows in what
// people compare by eye, and says that somebody's clock is not kept.
//
// Thread-safe; never blocks.

#pragma once

#include <optional>

#include "engine/base/clock.h"
#include "engine/base/mutex.h"

namespace engine {

class ClockSkew {
 public:
  // More than this is worth a warning.
  static constexpr Duration kWarnAbove = std::chrono::seconds(30);

  // The store's clock said `store` at some moment between `sent` and `received`, which are ours.
  // Logs a warning when the skew comes to be more than kWarnAbove for certain.
  void Observe(Timestamp sent, Timestamp received, Timestamp store);

  // Of the last answer, with an error of half its round trip at most; positive when the store is
  // ahead. Empty before the first.
  std::optional<double> seconds() const;

 private:
  mutable Mutex mutex_;
  std::optional<double> seconds_ ABSL_GUARDED_BY(mutex_);
  bool warned_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace engine
