// HaloServer: a real `halo-server serve` process of a test, and the store it serves from.
//
//   ASSERT_OK_AND_ASSIGN(auto store, TestStore::OnFiles());
//   ASSERT_OK_AND_ASSIGN(auto server, HaloServer::Start(*store));
//   HttpClient client(server->url());

#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "tests/support/http_client.h"
#include "tests/support/pgbouncer.h"
#include "tests/support/postgres.h"
#include "tests/support/private_directory.h"
#include "tests/support/process.h"

namespace support {

// Where servers of one test keep their data. Thread-compatible.
class TestStore {
 public:
  // An empty data directory.
  static absl::StatusOr<std::unique_ptr<TestStore>> OnFiles();
  // An empty, migrated database of the shared cluster, served by a role that may only read and
  // write rows; through PgBouncer in transaction mode if `pooled`.
  static absl::StatusOr<std::unique_ptr<TestStore>> OnPostgres(bool pooled = false);

  // An empty, migrated database of `cluster`, served by its superuser. `url` says how servers reach
  // it, given its name: several hosts, say.
  static absl::StatusOr<std::unique_ptr<TestStore>> OnCluster(
      const PostgresCluster& cluster, const std::function<std::string(const std::string&)>& url);

  // `--data-dir DIR` or `--database-url-file F`: for the server and the storage commands alike.
  const std::vector<std::string>& flags() const { return flags_; }
  // Of the database's owner; empty for files.
  const std::string& owner_url() const { return owner_url_; }
  // Of the serving role; empty for files.
  const std::string& url() const { return url_; }
  // The data directory; empty for Postgres.
  const std::string& data_dir() const { return data_dir_; }
  // A place for files of the test, gone with the store.
  const PrivateDirectory& directory() const { return *directory_; }

 private:
  TestStore() = default;

  std::unique_ptr<PrivateDirectory> directory_;
  std::unique_ptr<PgBouncer> bouncer_;
  std::vector<std::string> flags_;
  std::string owner_url_;
  std::string url_;
  std::string data_dir_;
};

// Path of a program of the build: "halo-server", "halo".
std::string Program(const std::string& name);

// Runs `halo ARGS...` to its end.
absl::StatusOr<Finished> RunHalo(const std::vector<std::string>& args);

// One server on a port of its own. Thread-compatible; url() and headers are const.
class HaloServer {
 public:
  // Blocks until it says where it listens. `more` are further flags. Admin() is the operator of
  // this name. `program` is the path of another build of the server. `env` is as of a Process.
  static absl::StatusOr<std::unique_ptr<HaloServer>> Start(
      const TestStore& store, const std::vector<std::string>& more = {},
      const std::string& operator_name = "ops", const std::string& program = Program("halo-server"),
      const std::vector<std::string>& env = {});

  const std::string& url() const { return url_; }
  Process& process() { return *process_; }
  // The credentials of the operator.
  static HttpHeaders Admin();

  // Kills it at once and waits until it is gone.
  void Kill();
  // Asks it to end, and fails unless it exits with 0 in time.
  absl::Status Stop();

 private:
  std::unique_ptr<Process> process_;
  std::string url_;
};

}  // namespace support
