#include "engine/postgres/reconnect.h"

#include <algorithm>

#include "engine/base/guard.h"
#include "engine/base/status_macros.h"

namespace engine::postgres {

absl::Status ReconnectGate::Run(const std::function<absl::Status()>& connect, Deadline deadline) {
  bool is_alone = false;
  {
    MutexLock lock(mutex_);
    if (!GUARD("postgres.reconnect", failure_.ok())) {
      RETURN_IF_ERROR(WaitForTurn(deadline, is_alone));
    }
  }
  const absl::Status status = connect();
  {
    MutexLock lock(mutex_);
    trying_ = trying_ && !is_alone;
    // A failure that began before the first one was known says nothing new.
    if (is_alone || failure_.ok() || status.ok()) {
      Note(status);
    }
  }
  changed_.SignalAll();
  return status;
}

absl::Status ReconnectGate::WaitForTurn(Deadline deadline, bool& is_alone) {
  const std::uint64_t begun_before = begun_;
  while (!failure_.ok()) {
    if (failed_ > begun_before || deadline.HasPassed()) {
      return failure_;
    }
    if (!trying_ && next_.HasPassed()) {
      trying_ = is_alone = true;
      ++begun_;
      return absl::OkStatus();
    }
    changed_.WaitUntil(mutex_, trying_ ? deadline : deadline.EarlierOf(next_));
  }
  return absl::OkStatus();
}

void ReconnectGate::Note(const absl::Status& status) {
  if (absl::IsDeadlineExceeded(status)) {
    next_ = Deadline::After(Duration::zero());
    return;
  }
  if (status.ok()) {
    failure_ = status;
    pause_ = Duration::zero();
    return;
  }
  failure_ = status;
  failed_ = begun_;
  pause_ = pause_ == Duration::zero() ? options_.first_pause
                                      : std::min(2 * pause_, options_.longest_pause);
  const auto half = static_cast<std::uint64_t>(pause_.count() / 2);
  next_ = Deadline::After(Duration(static_cast<std::int64_t>(half + random_.Below(half + 1))));
}

}  // namespace engine::postgres
