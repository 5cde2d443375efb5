// LocalPresence: the seam of engine/presence.h for a store that lives in one process.
//
// Such a store has one life, of epoch 1, as long as its process; who works on it is in that process
// too, so nothing has to be durable.

#pragma once

#include <map>
#include <string>

#include "engine/base/mutex.h"
#include "engine/presence.h"

namespace engine {

class LocalPresence final : public Presence {
 public:
  // `clock` is the store's and must outlive the object. `origin` as in the store's News.
  explicit LocalPresence(const Clock& clock, Origin origin = {})
      : clock_(clock), life_{std::move(origin), 1} {}

  absl::StatusOr<Life> NoteLife(Deadline deadline) override;
  absl::StatusOr<Pulse> Beat(const Replica& self, Deadline deadline) override;

 private:
  const Clock& clock_;
  const Life life_;
  Mutex mutex_;
  std::map<std::string, Replica> replicas_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace engine
