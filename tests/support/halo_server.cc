#include "tests/support/halo_server.h"

#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/status_macros.h"

namespace support {
namespace {

constexpr char kToken[] = "0123456789abcdef0123456789abcdef";
constexpr char kRole[] = "halo_app";

engine::Deadline StartDeadline() {
  return engine::Deadline::After(std::chrono::seconds(60));
}

}  // namespace

absl::StatusOr<std::unique_ptr<TestStore>> TestStore::OnFiles() {
  std::unique_ptr<TestStore> store(new TestStore);
  ASSIGN_OR_RETURN(store->directory_, PrivateDirectory::Make());
  store->data_dir_ = store->directory_->path() + "/data";
  store->flags_ = {"--data-dir", store->data_dir_};
  return store;
}

absl::StatusOr<std::unique_ptr<TestStore>> TestStore::OnPostgres(bool pooled) {
  std::unique_ptr<TestStore> store(new TestStore);
  ASSIGN_OR_RETURN(store->directory_, PrivateDirectory::Make());
  PostgresCluster& cluster = SharedCluster();
  ASSIGN_OR_RETURN(store->owner_url_, cluster.CreateDatabase("halo"));
  RETURN_IF_ERROR(cluster.CreateRole(kRole));
  ASSIGN_OR_RETURN(const std::string owner_file,
                   store->directory_->Write("owner-url", store->owner_url_));
  RETURN_IF_ERROR(RunToSuccess({.argv = {Program("halo-server"), "migrate", "--database-url-file",
                                         owner_file, "--grant-to", kRole}},
                               StartDeadline()));
  store->url_ = WithRole(store->owner_url_, kRole);
  if (pooled) {
    ASSIGN_OR_RETURN(store->bouncer_, PgBouncer::Start(cluster));
    store->url_ = store->bouncer_->Through(store->url_);
  }
  ASSIGN_OR_RETURN(const std::string file, store->directory_->Write("url", store->url_));
  store->flags_ = {"--database-url-file", file};
  return store;
}

absl::StatusOr<std::unique_ptr<TestStore>> TestStore::OnCluster(
    const PostgresCluster& cluster, const std::function<std::string(const std::string&)>& url) {
  std::unique_ptr<TestStore> store(new TestStore);
  ASSIGN_OR_RETURN(store->directory_, PrivateDirectory::Make());
  ASSIGN_OR_RETURN(store->owner_url_, cluster.CreateDatabase("halo"));
  ASSIGN_OR_RETURN(const std::string owner_file,
                   store->directory_->Write("owner-url", store->owner_url_));
  RETURN_IF_ERROR(
      RunToSuccess({.argv = {Program("halo-server"), "migrate", "--database-url-file", owner_file}},
                   StartDeadline()));
  ASSIGN_OR_RETURN(const std::string database,
                   SqlValue(store->owner_url_, "select current_database()"));
  store->url_ = url(database);
  ASSIGN_OR_RETURN(const std::string file, store->directory_->Write("url", store->url_));
  store->flags_ = {"--database-url-file", file};
  return store;
}

std::string Program(const std::string& name) {
  return name == "halo" ? HALO_CLI : HALO_SERVER;
}

absl::StatusOr<Finished> RunHalo(const std::vector<std::string>& args) {
  std::vector<std::string> argv = {Program("halo")};
  argv.insert(argv.end(), args.begin(), args.end());
  return RunProcess({.argv = argv}, StartDeadline());
}

absl::StatusOr<std::unique_ptr<HaloServer>> HaloServer::Start(const TestStore& store,
                                                              const std::vector<std::string>& more,
                                                              const std::string& operator_name,
                                                              const std::string& program,
                                                              const std::vector<std::string>& env) {
  std::unique_ptr<HaloServer> server(new HaloServer);
  ASSIGN_OR_RETURN(const std::string admins,
                   store.directory().Write("admins", operator_name + ":" + kToken + "\n"));
  std::vector<std::string> argv = {program,       "serve", "--listen",           "127.0.0.1:0",
                                   "--log-level", "warn",  "--admin-token-file", admins};
  argv.insert(argv.end(), store.flags().begin(), store.flags().end());
  argv.insert(argv.end(), more.begin(), more.end());
  ASSIGN_OR_RETURN(server->process_, Process::Start({.argv = argv, .env = env}));
  constexpr std::string_view kListening = "listening on ";
  ASSIGN_OR_RETURN(const std::string line,
                   server->process_->WaitForLine(kListening, StartDeadline()));
  server->url_ = line.substr(line.find(kListening) + kListening.size());
  return server;
}

HttpHeaders HaloServer::Admin() {
  return {{"Authorization", std::string("Bearer ") + kToken}};
}

void HaloServer::Kill() {
  process_->Signal(SIGKILL);
  process_->Wait(StartDeadline()).IgnoreError();
}

absl::Status HaloServer::Stop() {
  process_->Signal(SIGTERM);
  ASSIGN_OR_RETURN(const ExitStatus exit, process_->Wait(StartDeadline()));
  return exit.code == 0 ? absl::OkStatus()
                        : absl::InternalError(
                              absl::StrFormat("exit code %d: %s", exit.code, process_->Stderr()));
}

}  // namespace support
