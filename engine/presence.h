// Presence is the seam for who is alive: the life of the store that answers, and the replicas that
// work on it.
//
// A replica says twice a second that it is there (engine/heartbeat.h). That is a commit as real as
// any append: whoever acknowledges it may decide. Backends: engine/postgres (halo_heartbeat and
// halo_epoch), engine/local_presence.h for stores in one process. tests/conformance holds for all.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "engine/base/deadline.h"
#include "engine/journal.h"

namespace engine {

// Whoever was silent for longer is forgotten.
inline constexpr Duration kPresenceTime = std::chrono::minutes(1);

// One life of the store's server, and its number: 1 or more, greater for a later life.
struct Life {
  Origin origin;
  std::uint64_t epoch = 0;
  friend bool operator==(const Life&, const Life&) = default;
};

// What a replica folded a stream to.
struct FoldedStream {
  StreamId stream = StreamId::kInvalid;
  Position position = Position::kBeforeFirst;
  std::uint32_t fold_version = 0;
  std::uint64_t state_digest = 0;
  friend bool operator==(const FoldedStream&, const FoldedStream&) = default;
};

struct Replica {
  std::string name;  // [A-Za-z0-9._-]{1,128}, one a process.
  Timestamp at;      // When it said so, on the store's clock; the store fills it in.
  // The newest record types that it can read: 1 or more.
  std::uint32_t feature_level = 1;
  std::vector<FoldedStream> streams;
};

struct Pulse {
  Life life;                      // Who acknowledged it.
  Timestamp now;                  // The store's clock.
  std::vector<Replica> replicas;  // Who spoke within kPresenceTime, by name; ourselves included.
};

// Thread-safe. Calls block on the store, at most until their deadline.
class Presence {
 public:
  virtual ~Presence() = default;

  // The life that answers now, with its epoch; a life that nobody has met is given one, durably.
  // Fails with kUnavailable, kDeadlineExceeded.
  virtual absl::StatusOr<Life> NoteLife(Deadline deadline) = 0;

  // Writes `self` over what that replica said before, forgets who is silent, and answers once that
  // is as durable as an append. Fails as the store does; it may have been written then, and nothing
  // is proven.
  virtual absl::StatusOr<Pulse> Beat(const Replica& self, Deadline deadline) = 0;
};

}  // namespace engine
