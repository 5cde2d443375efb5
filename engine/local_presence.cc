#include "engine/local_presence.h"

#include <chrono>

namespace engine {

absl::StatusOr<Life> LocalPresence::NoteLife(Deadline /*deadline*/) {
  return life_;
}

absl::StatusOr<Pulse> LocalPresence::Beat(const Replica& self, Deadline deadline) {
  if (deadline.HasPassed()) {
    return absl::DeadlineExceededError("saying that we are alive");
  }
  constexpr std::int64_t kMicros =
      std::chrono::duration_cast<std::chrono::microseconds>(kPresenceTime).count();
  Pulse pulse{life_, clock_.Now(), {}};
  MutexLock lock(mutex_);
  Replica& row = replicas_[self.name];
  row = self;
  row.at = pulse.now;
  std::erase_if(replicas_, [&](const auto& entry) {
    return entry.second.at.micros < pulse.now.micros - kMicros;
  });
  for (const auto& [name, replica] : replicas_) {
    pulse.replicas.push_back(replica);
  }
  return pulse;
}

}  // namespace engine
