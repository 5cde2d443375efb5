// The Postgres backend: every seam in SQL, for any number of processes over one database.
//
// Needs Postgres 14 or newer, a role with DML rights on our tables (migrate.h grants them) and
// default server settings; works through a pooler in transaction mode. The tables: docs/tables.md.
// Why the order holds: docs/journal.md.

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include <absl/status/statusor.h>

#include "engine/base/clock.h"
#include "engine/engine.h"

namespace engine::postgres {

enum class Pooler {
  kAuto,         // Each connection finds out.
  kNone,         // Direct: prepared statements, settings of the session.
  kTransaction,  // Nothing that outlives a transaction.
};

// What an engine tells the metrics. Shared, so that it can be read at any time.
struct Stats {
  std::atomic<std::uint64_t> errors{0};           // Statements and connects that failed.
  std::atomic<std::int64_t> open_connections{0};  // Idle ones included.
};

struct Options {
  // One connection URL (or libpq's `key=value` form), as read from a file: white space around it
  // does not matter. Several hosts are tried in turn until one accepts writes.
  std::string url;
  Pooler pooler = Pooler::kAuto;
  // All connections together, reserved ones included; at least 5.
  int max_conns = 16;
  // More idle ones than this are closed.
  int max_idle_conns = 10;
  // Older connections are closed when they come back, or when they have been idle for too long.
  Duration conn_max_lifetime = std::chrono::minutes(5);
  Duration conn_max_idle_time = std::chrono::minutes(1);
  // No call takes longer, whatever its deadline; scans only end with theirs.
  Duration request_timeout = std::chrono::seconds(30);
  // How often Open tries to connect, and how long it waits in between.
  int connect_attempts = 10;
  Duration connect_interval = std::chrono::seconds(3);
  // Allows hosts other than this machine without `sslmode=verify-full`.
  bool insecure_tls = false;
  std::string application_name = "halo-server";
  // Optional.
  std::shared_ptr<Stats> stats;
};

// Connects, checks that the schema is one that this binary can work with, and inserts the streams
// of the catalogue that the store lacks. Blocks, for connect_attempts * connect_interval at most
// when there is no database.
//
// Fails with
//   kInvalidArgument     the options or the URL
//   kUnavailable         no database, or only a standby
//   kFailedPrecondition  the schema is behind (run `halo-server migrate`) or ahead, or a stream of
//                        the catalogue has another number there
absl::StatusOr<std::unique_ptr<Engine>> Open(Catalogue catalogue, const Options& options);

}  // namespace engine::postgres
