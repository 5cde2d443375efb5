// PgBouncer: a pooler in transaction mode in front of a cluster, on a private unix socket.
//
// The strictest mode that users run: a session's state belongs to whoever comes next.

#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "tests/support/postgres.h"
#include "tests/support/private_directory.h"
#include "tests/support/process.h"

namespace support {

struct PgBouncerOptions {
  // Server connections for a (database, role); more transactions than this wait.
  int pool_size = 4;
  // Who may log in, without a password. Must exist in the cluster to get through.
  std::vector<std::string> roles = {"postgres", "halo_app"};
  // Lines of the section [pgbouncer], on top of PgBouncer's defaults.
  std::map<std::string, std::string> settings = {};
};

// Thread-compatible; what is const may be called from any thread. Ends on destruction. The
// cluster must outlive it and may be stopped and started under it.
class PgBouncer {
 public:
  // Blocks until it accepts connections. Runs as an account other than root, as the server does.
  static absl::StatusOr<std::unique_ptr<PgBouncer>> Start(const PostgresCluster& cluster,
                                                          const PgBouncerOptions& options = {});

  // Kills it at once, and its clients' connections with it; StartAgain undoes that.
  void Kill();
  absl::Status StartAgain();

  std::string Url(const std::string& database, const std::string& role = "postgres") const;
  // The way through the pooler to the database of a URL of the cluster, for the same role.
  std::string Through(const std::string& cluster_url) const;

  const std::string& socket_directory() const { return directory_->path(); }
  std::string Log() const { return process_ == nullptr ? "" : process_->Stderr(); }

 private:
  PgBouncer(std::unique_ptr<PrivateDirectory> directory, std::string configuration)
      : directory_(std::move(directory)), configuration_(std::move(configuration)) {}

  std::unique_ptr<PrivateDirectory> directory_;
  std::string configuration_;  // Path of the file.
  std::unique_ptr<Process> process_;
};

}  // namespace support
