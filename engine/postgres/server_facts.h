// ServerFacts: what a new session finds out about its server before it is used, because promises
// rest on it.
//
// Thread-compatible; ReadFacts blocks at most until its deadline.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/base/deadline.h"
#include "engine/postgres/connection.h"

namespace engine::postgres {

// As `current_setting` gives them to a session of our role, before anything was set.
struct ServerFacts {
  int backend_pid = 0;  // Of the server; a pooler tells clients another one.
  int version = 0;      // 150004
  std::string fsync;
  std::string full_page_writes;
  std::string data_checksums;
  std::string synchronous_commit;
  std::string synchronous_standby_names;
  std::string default_transaction_isolation;
  std::string default_transaction_read_only;
  std::string session_replication_role;
  int statement_timeout_ms = 0;

  bool has_synchronous_standby() const;
};

absl::StatusOr<ServerFacts> ReadFacts(Connection& connection, Deadline deadline);

// Whether we can keep what we promise there. Fails with kFailedPrecondition for
//   - a server older than Postgres 14,
//   - a role whose statement_timeout ends a statement before it can set another,
//   - with `require_synchronous`, a server whose commits wait for no other machine or disk.
absl::Status CheckFacts(const ServerFacts& facts, bool require_synchronous);

// Whether that is still so: names can be taken away under an open connection. `settings` is what
// the statement of that name answered in the transaction that is to be judged. Fails with
// kUnavailable and its Reason; always ok on a connection that need not be synchronous.
//
// Names that go while a commit waits let it through: that is seen by the next one.
absl::Status CheckStillSynchronous(const Connection& connection, const Result& settings);

// For people and `/readyz`, in a fixed order: settings and what they mean for us.
using ShownFacts = std::vector<std::pair<std::string, std::string>>;
ShownFacts Show(const ServerFacts& facts);

// The same as a line of the log, and a warning for each that an administrator should look at.
void LogFacts(const ServerFacts& facts);

}  // namespace engine::postgres
