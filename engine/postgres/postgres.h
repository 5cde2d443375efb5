// The Postgres backend: every seam in SQL, for any number of processes over one database.
//
// Needs Postgres 14 or newer, a role with DML rights on our tables (migrate.h grants them) and
// default server settings; works through a pooler in transaction mode. The tables: docs/tables.md.
// Why the order holds: docs/journal.md.

#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/status/statusor.h>

#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/engine.h"
#include "engine/postgres/query_times.h"

namespace engine::postgres {

enum class Pooler {
  kAuto,         // Each connection finds out.
  kNone,         // Direct: prepared statements, settings of the session.
  kTransaction,  // Nothing that outlives a transaction.
};

// Why a statement or a connect failed, for the metrics.
enum class DbError {
  kConnect,   // No connection could be made.
  kLost,      // A connection broke, or the server ended it.
  kTimeout,   // Ours or the server's.
  kConflict,  // Another transaction was there.
  kRefused,   // Anything else that the server says no to.
};
inline constexpr std::string_view kDbErrorNames[] = {"connect", "lost", "timeout", "conflict",
                                                     "refused"};

// What an engine tells the metrics and `/readyz`. Shared, so that it can be read at any time.
// Thread-safe; never blocks for long.
class Stats {
 public:
  // Settings of the server as the newest connection found them, by name.
  using Facts = std::vector<std::pair<std::string, std::string>>;

  std::atomic<std::uint64_t> connects{0};         // That succeeded.
  std::atomic<std::int64_t> open_connections{0};  // Idle ones included.
  std::atomic<std::int64_t> used_connections{0};  // Of these, by somebody at this moment.

  QueryTimes queries;
  std::atomic<bool> log_statements{false};  // Each, with its time, at info level.

  void CountError(DbError error) { ++errors_[static_cast<std::size_t>(error)]; }
  std::uint64_t errors(DbError error) const { return errors_[static_cast<std::size_t>(error)]; }
  std::uint64_t errors() const;

  void SetFacts(Facts facts);
  // Empty before the first connection.
  Facts facts() const;

 private:
  std::array<std::atomic<std::uint64_t>, std::size(kDbErrorNames)> errors_{};
  mutable Mutex mutex_;
  Facts facts_ ABSL_GUARDED_BY(mutex_);
};

struct Options {
  // One connection URL (or libpq's `key=value` form), as read from a file: white space around it
  // does not matter. Several hosts are tried in turn until one accepts writes.
  std::string url;
  // The way to the same database past a pooler, for leases. Empty: `url`.
  std::string direct_url;
  Pooler pooler = Pooler::kAuto;
  // All connections together, reserved ones included; at least 5.
  int max_conns = 16;
  // More idle ones than this are closed; those of the readiness ping and of leases do not count.
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
  // Refuses a server whose commits do not wait for a standby.
  bool require_synchronous = false;
  std::string application_name = "halo-server";
  // How long Migrate waits for others, all in all.
  Duration migration_patience = std::chrono::minutes(5);
  // Writes a line for each statement that ran, without its parameters.
  bool log_statements = false;
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
//   kFailedPrecondition  the schema is behind (run `halo-server migrate`) or ahead, a stream of the
//                        catalogue has another number there, the server cannot keep what we
//                        promise (server_facts.h), or `direct_url` leads to another database
absl::StatusOr<std::unique_ptr<Engine>> Open(Catalogue catalogue, const Options& options);

}  // namespace engine::postgres
