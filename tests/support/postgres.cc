#include "tests/support/postgres.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <absl/strings/str_format.h>
#include <libpq-fe.h>
#include <signal.h>
#include <unistd.h>

#include "engine/base/mutex.h"
#include "engine/base/status_macros.h"
#include "tests/support/poll.h"

namespace support {
namespace {

// Only a part of the socket's name; nothing listens on TCP.
constexpr int kPort = 5433;
constexpr auto kPatience = std::chrono::minutes(1);

engine::Deadline Patience() {
  return engine::Deadline::After(kPatience);
}

absl::StatusOr<std::string> ProgramDirectory() {
  int newest = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql", error)) {
    if (std::filesystem::exists(entry.path() / "bin" / "initdb")) {
      newest = std::max(newest, std::atoi(entry.path().filename().c_str()));
    }
  }
  if (newest == 0) {
    return absl::NotFoundError("no Postgres server in /usr/lib/postgresql");
  }
  return absl::StrFormat("/usr/lib/postgresql/%d/bin", newest);
}

absl::StatusOr<std::unique_ptr<PrivateDirectory>> MakeTemplate() {
  ASSIGN_OR_RETURN(const std::string programs, ProgramDirectory());
  ASSIGN_OR_RETURN(std::unique_ptr<PrivateDirectory> made, PrivateDirectory::Make(ServerUser()));
  RETURN_IF_ERROR(RunToSuccess(
      {.argv = {programs + "/initdb", "--pgdata", made->path() + "/data", "--username=postgres",
                "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"},
       .working_directory = made->path(),
       .user = ServerUser()},
      Patience()));
  return made;
}

// A freshly initialised data directory, made once a process.
absl::StatusOr<std::string> TemplateDirectory() {
  static const auto made = MakeTemplate();
  RETURN_IF_ERROR(made.status());
  return (*made)->path() + "/data";
}

// Whether a process is there and not merely waiting to be reaped; its parent goes to `parent`.
bool Alive(const std::filesystem::path& proc_directory, pid_t* parent) {
  std::ifstream file(proc_directory / "stat");
  std::string stat;
  std::getline(file, stat);
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) {
    return false;
  }
  char state = 'Z';
  std::istringstream fields(stat.substr(name_end + 1));
  fields >> state >> *parent;
  return state != 'Z' && state != 'X';
}

std::vector<pid_t> ChildrenOf(pid_t parent) {
  std::vector<pid_t> children;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    pid_t its_parent = 0;
    if (pid > 0 && Alive(entry.path(), &its_parent) && its_parent == parent) {
      children.push_back(pid);
    }
  }
  return children;
}

std::string Quoted(const std::string& name) {
  return "\"" + name + "\"";
}

Rows RowsOf(const PGresult* result) {
  Rows rows(static_cast<std::size_t>(PQntuples(result)));
  for (std::size_t row = 0; row < rows.size(); ++row) {
    for (int column = 0; column < PQnfields(result); ++column) {
      rows[row].emplace_back(PQgetvalue(result, static_cast<int>(row), column));
    }
  }
  return rows;
}

}  // namespace

absl::StatusOr<Rows> Sql(const std::string& url, const std::string& statements) {
  const std::unique_ptr<PGconn, decltype(&PQfinish)> connection(PQconnectdb(url.c_str()), PQfinish);
  if (PQstatus(connection.get()) != CONNECTION_OK) {
    return absl::UnavailableError(PQerrorMessage(connection.get()));
  }
  const std::unique_ptr<PGresult, decltype(&PQclear)> result(
      PQexec(connection.get(), statements.c_str()), PQclear);
  const ExecStatusType status = PQresultStatus(result.get());
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
    return absl::InternalError(PQerrorMessage(connection.get()));
  }
  return RowsOf(result.get());
}

absl::StatusOr<std::string> SqlValue(const std::string& url, const std::string& statements) {
  ASSIGN_OR_RETURN(const Rows rows, Sql(url, statements));
  if (rows.empty() || rows[0].empty()) {
    return absl::NotFoundError("no row");
  }
  return rows[0][0];
}

PostgresCluster::PostgresCluster(std::unique_ptr<PrivateDirectory> directory)
    : directory_(std::move(directory)), owner_(getpid()) {}

absl::StatusOr<std::unique_ptr<PostgresCluster>> PostgresCluster::Start(
    const ClusterOptions& options) {
  ASSIGN_OR_RETURN(const std::string source, TemplateDirectory());
  ASSIGN_OR_RETURN(std::unique_ptr<PrivateDirectory> directory,
                   PrivateDirectory::Make(ServerUser()));
  std::unique_ptr<PostgresCluster> cluster(new PostgresCluster(std::move(directory)));
  RETURN_IF_ERROR(RunToSuccess(
      {.argv = {"cp", "-a", source, cluster->data_directory()}, .user = ServerUser()}, Patience()));
  cluster->settings_ = options.settings;
  RETURN_IF_ERROR(cluster->StartAgain());
  return cluster;
}

absl::Status PostgresCluster::CopyFrom(const PostgresCluster& source) {
  ASSIGN_OR_RETURN(const std::string programs, ProgramDirectory());
  return RunToSuccess(
      {.argv = {programs + "/pg_basebackup", "-D", data_directory(), "-h",
                source.socket_directory(), "-p", absl::StrFormat("%d", kPort), "-U", "postgres",
                "--checkpoint=fast", "--wal-method=stream", "--no-sync"},
       .working_directory = socket_directory(),
       .user = ServerUser()},
      Patience());
}

absl::Status PostgresCluster::TakeDataOf(const PostgresCluster& source) {
  RETURN_IF_ERROR(
      RunToSuccess({.argv = {"rm", "-rf", data_directory()}, .user = ServerUser()}, Patience()));
  return CopyFrom(source);
}

absl::StatusOr<std::unique_ptr<PostgresCluster>> PostgresCluster::StartStandby(
    const PostgresCluster& primary, const std::string& name) {
  ASSIGN_OR_RETURN(std::unique_ptr<PrivateDirectory> directory,
                   PrivateDirectory::Make(ServerUser()));
  std::unique_ptr<PostgresCluster> cluster(new PostgresCluster(std::move(directory)));
  cluster->settings_["primary_conninfo"] = absl::StrFormat(
      "host=%s port=%d user=postgres application_name=%s", primary.socket_directory(), kPort, name);
  cluster->settings_["hot_standby"] = "on";
  RETURN_IF_ERROR(cluster->CopyFrom(primary));
  RETURN_IF_ERROR(cluster->directory_->Write("data/standby.signal", "").status());
  RETURN_IF_ERROR(cluster->StartAgain());
  return cluster;
}

absl::StatusOr<std::unique_ptr<PostgresCluster>> PostgresCluster::Restore(
    const PostgresCluster& source) {
  ASSIGN_OR_RETURN(std::unique_ptr<PrivateDirectory> directory,
                   PrivateDirectory::Make(ServerUser()));
  std::unique_ptr<PostgresCluster> cluster(new PostgresCluster(std::move(directory)));
  RETURN_IF_ERROR(cluster->CopyFrom(source));
  RETURN_IF_ERROR(cluster->StartAgain());
  return cluster;
}

absl::Status PostgresCluster::Promote() {
  return Sql(Url("postgres"), "select pg_promote(true, 60)").status();
}

PostgresCluster::~PostgresCluster() {
  if (getpid() != owner_) {
    // A forked copy of the test process: the server and its files belong to the original.
    [[maybe_unused]] const Process* const not_ours = server_.release();
    return;
  }
  Kill();
}

absl::Status PostgresCluster::Stop(StopMode mode) {
  if (server_ == nullptr) {
    return absl::OkStatus();
  }
  switch (mode) {
    case StopMode::kSmart:
      server_->Signal(SIGTERM);
      break;
    case StopMode::kFast:
      server_->Signal(SIGINT);
      break;
    case StopMode::kImmediate:
      server_->Signal(SIGQUIT);
      break;
  }
  RETURN_IF_ERROR(server_->Wait(Patience()).status());
  server_.reset();
  return absl::OkStatus();
}

void PostgresCluster::Kill() {
  if (server_ == nullptr) {
    return;
  }
  // Stopped first, so that it forks no child that the list lacks.
  server_->Signal(SIGSTOP);
  const std::vector<pid_t> children = ChildrenOf(server_->pid());
  server_->Signal(SIGKILL);
  for (const pid_t child : children) {
    kill(child, SIGKILL);
  }
  server_.reset();
  WaitFor(
      [&] {
        return std::none_of(children.begin(), children.end(), [](pid_t child) {
          pid_t parent = 0;
          return Alive(absl::StrFormat("/proc/%d", child), &parent);
        });
      },
      Patience());
}

absl::Status PostgresCluster::WriteSettings() const {
  std::string lines = "listen_addresses = ''\nunix_socket_permissions = 0777\n";
  lines +=
      absl::StrFormat("unix_socket_directories = '%s'\nport = %d\n", socket_directory(), kPort);
  for (const auto& [name, value] : settings_) {
    lines += absl::StrFormat("%s = '%s'\n", name, value);
  }
  return directory_->Write("data/postgresql.auto.conf", lines).status();
}

absl::Status PostgresCluster::StartAgain() {
  if (server_ != nullptr && server_->Running()) {
    return absl::OkStatus();
  }
  server_.reset();
  RETURN_IF_ERROR(WriteSettings());
  return Launch();
}

absl::Status PostgresCluster::Launch() {
  ASSIGN_OR_RETURN(const std::string programs, ProgramDirectory());
  // SIGQUIT makes the postmaster end its children too, should this process be killed.
  ASSIGN_OR_RETURN(server_,
                   Process::Start({.argv = {programs + "/postgres", "-D", data_directory()},
                                   .working_directory = socket_directory(),
                                   .user = ServerUser(),
                                   .death_signal = SIGQUIT}));
  const std::string url = Url("postgres");
  const bool ready =
      WaitFor([&] { return PQping(url.c_str()) == PQPING_OK || !server_->Running(); }, Patience(),
              std::chrono::milliseconds(10));
  if (!ready || !server_->Running()) {
    return absl::InternalError(absl::StrFormat("Postgres did not start:\n%s", ServerLog()));
  }
  return absl::OkStatus();
}

absl::Status PostgresCluster::Set(const std::string& name, const std::string& value) {
  settings_[name] = value;
  return WriteSettings();
}

void PostgresCluster::Reload() {
  if (server_ != nullptr) {
    server_->Signal(SIGHUP);
  }
}

int PostgresCluster::port() const {
  return kPort;
}

std::string PostgresCluster::ServerLog() const {
  return server_ == nullptr ? "" : server_->Stderr();
}

std::string PostgresCluster::Url(const std::string& database, const std::string& role) const {
  return absl::StrFormat("postgresql:///%s?host=%s&port=%d&user=%s", database, socket_directory(),
                         kPort, role);
}

absl::StatusOr<std::string> PostgresCluster::CreateDatabase(const std::string& name) const {
  static std::atomic<int> number = 0;
  const std::string database = absl::StrFormat("%s_%d", name, ++number);
  RETURN_IF_ERROR(
      Sql(Url("postgres"), "create database " + Quoted(database) + " template template0").status());
  return Url(database);
}

absl::Status PostgresCluster::CreateRole(const std::string& role) const {
  ASSIGN_OR_RETURN(const Rows known,
                   Sql(Url("postgres"), "select 1 from pg_roles where rolname = '" + role + "'"));
  if (!known.empty()) {
    return absl::OkStatus();
  }
  return Sql(Url("postgres"), "create role " + Quoted(role) +
                                  " login nosuperuser nocreatedb nocreaterole noreplication")
      .status();
}

PostgresCluster& SharedCluster() {
  static const std::unique_ptr<PostgresCluster> cluster = [] {
    auto started = PostgresCluster::Start();
    if (!started.ok()) {
      std::fprintf(stderr, "%s\n", started.status().ToString().c_str());
      std::abort();
    }
    return *std::move(started);
  }();
  return *cluster;
}

std::string WithRole(const std::string& url, const std::string& role) {
  constexpr std::string_view kUser = "user=";
  const std::size_t begin = url.find(kUser) + kUser.size();
  const std::size_t end = std::min(url.find('&', begin), url.size());
  return url.substr(0, begin) + role + url.substr(end);
}

absl::Status GrantRowsOnly(const std::string& url, const std::string& role) {
  ASSIGN_OR_RETURN(const std::string database, SqlValue(url, "select current_database()"));
  return Sql(url,
             "revoke create on schema public from public;"
             "revoke create, temporary on database " +
                 Quoted(database) +
                 " from public;"
                 "grant connect on database " +
                 Quoted(database) + " to " + Quoted(role) +
                 ";"
                 "grant usage on schema public to " +
                 Quoted(role) +
                 ";"
                 "grant select, insert, update, delete on all tables in schema public to " +
                 Quoted(role))
      .status();
}

}  // namespace support
