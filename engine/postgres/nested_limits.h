// Limits: what a server is told of a deadline of ours, so that deadlines nest.
//
// A request waits longer than we wait for the server, we wait longer than a statement may run,
// and a statement may run longer than it may wait for a lock. So the innermost limit ends first,
// with a clean error on a connection that stays good, and nobody gets a lock, or commits, for a
// client that has left.
//
// Thread-safe; never blocks.

#pragma once

#include <cstdint>
#include <string>

#include "engine/base/deadline.h"

namespace engine::postgres {

// In milliseconds, both at least 1 and at most what Postgres takes.
struct Limits {
  std::int64_t statement_ms = 0;
  std::int64_t lock_ms = 0;

  std::string StatementText() const { return std::to_string(statement_ms); }
  std::string LockText() const { return std::to_string(lock_ms); }
};

// For a wait that ends with `deadline`; the longest limits there are when it is infinite.
Limits LimitsFor(Deadline deadline);

}  // namespace engine::postgres
