// Engine is what a backend hands out: the seams of one store. Start reading here, then
// engine/journal.h; engine/README.md is the guided tour.
//
// Backends: engine::memory::Open, engine::file::Open, engine::postgres::Open. Only main files,
// tests and benches name one of them; everything else takes an Engine or one seam of it.

#pragma once

#include <string>

#include "engine/journal.h"
#include "engine/key_value.h"
#include "engine/lease.h"
#include "engine/presence.h"

namespace engine {

// Thread-safe. Owns its connections, files and threads; destroy it after everything that uses its
// seams.
class Engine {
 public:
  virtual ~Engine() = default;

  virtual Journal& journal() = 0;
  virtual KeyValue& key_value() = 0;
  virtual Leases& leases() = 0;
  virtual Presence& presence() = 0;

  // Whether the store can be written to right now, asked on a way of its own (a busy pool is
  // ready, a lost store is not). Blocks at most until `deadline`. Fails with kUnavailable and the
  // reason.
  virtual absl::Status CheckReady(Deadline deadline) = 0;

  // One word for logs and metrics: `memory`, `file`, `postgres`.
  virtual std::string backend() const = 0;
};

}  // namespace engine
