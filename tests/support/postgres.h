// PostgresCluster: a throwaway Postgres server on a private unix socket.
//
//   support::PostgresCluster& cluster = support::SharedCluster();
//   ASSERT_OK_AND_ASSIGN(std::string url, cluster.CreateDatabase("journal"));
//   ASSERT_OK(support::Sql(url, "create table t (a int)"));
//
// Most tests share one server and make a database each; a test that stops, kills or configures
// the server starts its own cluster. No TCP port is opened. When the test process is root the
// server runs as `postgres`, which Postgres insists on.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <sys/types.h>

#include "tests/support/private_directory.h"
#include "tests/support/process.h"

namespace support {

// The rows of an answer; NULL is the empty string.
using Rows = std::vector<std::vector<std::string>>;

// Runs `statements` on a connection of its own and returns the rows of the last one. Blocks.
// Fails with kUnavailable when it cannot connect, else kInternal with the server's message.
absl::StatusOr<Rows> Sql(const std::string& url, const std::string& statements);

// The first column of the first row; kNotFound when there is none.
absl::StatusOr<std::string> SqlValue(const std::string& url, const std::string& statements);

struct ClusterOptions {
  // Lines of postgresql.conf, on top of the server's own defaults and `listen_addresses = ''`.
  // Everything else, fsync too, is as Postgres ships it.
  std::map<std::string, std::string> settings = {};
};

enum class StopMode {
  kSmart,      // Waits until all clients have gone.
  kFast,       // Ends all sessions, writes a checkpoint.
  kImmediate,  // Ends at once; the next start recovers from the log.
};

// Thread-compatible, but what is const may be called from any thread. Every call blocks.
class PostgresCluster {
 public:
  // Makes a cluster from the newest installed Postgres and starts it. The first call of a process
  // runs initdb, the others copy its result.
  static absl::StatusOr<std::unique_ptr<PostgresCluster>> Start(const ClusterOptions& options = {});
  // A streaming standby of `primary`, from a base backup; returns when it accepts (read-only)
  // connections. `name` is its application_name at the primary, for synchronous_standby_names.
  static absl::StatusOr<std::unique_ptr<PostgresCluster>> StartStandby(
      const PostgresCluster& primary, const std::string& name);
  // A copy of `source` as it is now, started as a server of its own from a base backup.
  static absl::StatusOr<std::unique_ptr<PostgresCluster>> Restore(const PostgresCluster& source);
  ~PostgresCluster();
  PostgresCluster(const PostgresCluster&) = delete;
  PostgresCluster& operator=(const PostgresCluster&) = delete;

  // Stops the server. kDeadlineExceeded when it still runs after a minute.
  absl::Status Stop(StopMode mode);

  // Kills the postmaster and all its children with SIGKILL, like a crash of the machine except
  // that the page cache survives; returns when they are gone.
  void Kill();

  // Starts a stopped or killed server again with the settings as they are now, on the same
  // socket; returns when it accepts connections. Does nothing while it runs.
  absl::Status StartAgain();

  // Throws a stopped server's data away for those of `source` as they are now.
  absl::Status TakeDataOf(const PostgresCluster& source);

  // Makes a standby a primary; returns when it accepts writes.
  absl::Status Promote();

  // Changes or adds a line of postgresql.conf; used from the next StartAgain or Reload on.
  absl::Status Set(const std::string& name, const std::string& value);
  // Makes the server read postgresql.conf again. The sessions notice a moment later.
  void Reload();

  // Zero while the server is stopped.
  pid_t postmaster_pid() const { return server_ == nullptr ? 0 : server_->pid(); }
  // The directory of the socket, and its port (the number in the socket's name).
  const std::string& socket_directory() const { return directory_->path(); }
  std::string data_directory() const { return directory_->path() + "/data"; }
  int port() const;
  // What the server logged since it was last started.
  std::string ServerLog() const;

  // The URL of a database for a role; "postgres" is the superuser, who needs no password.
  std::string Url(const std::string& database, const std::string& role = "postgres") const;

  // Makes an empty database whose name starts with `name` and is new in the cluster, and returns
  // its URL for the superuser. Needs no clean-up.
  absl::StatusOr<std::string> CreateDatabase(const std::string& name) const;

  // Makes a role that can log in and do nothing else; does nothing when there is one.
  absl::Status CreateRole(const std::string& role) const;

 private:
  explicit PostgresCluster(std::unique_ptr<PrivateDirectory> directory);

  absl::Status CopyFrom(const PostgresCluster& source);
  absl::Status WriteSettings() const;
  absl::Status Launch();

  std::unique_ptr<PrivateDirectory> directory_;
  std::map<std::string, std::string> settings_;
  std::unique_ptr<Process> server_;
  pid_t owner_;
};

// The server that the tests of this process share; started by the first call. Do not stop it.
// Ends the process when it cannot be started: no test could say anything then. Thread-safe.
PostgresCluster& SharedCluster();

// The same database for another role: `url` with its user replaced. Also for a PgBouncer's URL.
std::string WithRole(const std::string& url, const std::string& role);

// Gives `role` what a serving process may have and no more: to read and write the rows of all
// tables that the database has now. It can create nothing, not even a temporary table, and that
// is taken from everybody else too.
absl::Status GrantRowsOnly(const std::string& url, const std::string& role);

}  // namespace support
