#include "tests/support/pgbouncer.h"

#include <absl/strings/str_format.h>
#include <libpq-fe.h>

#include "engine/base/status_macros.h"
#include "tests/support/poll.h"

namespace support {
namespace {

constexpr int kPort = 6432;
constexpr auto kPatience = std::chrono::seconds(30);

std::string Configuration(const PostgresCluster& cluster, const PrivateDirectory& directory,
                          const PgBouncerOptions& options) {
  std::string text = absl::StrFormat("[databases]\n* = host=%s port=%d\n\n[pgbouncer]\n",
                                     cluster.socket_directory(), cluster.port());
  text += absl::StrFormat("unix_socket_dir = %s\nlisten_port = %d\n", directory.path(), kPort);
  text += absl::StrFormat("auth_type = trust\nauth_file = %s/users\n", directory.path());
  text += absl::StrFormat("pool_mode = transaction\ndefault_pool_size = %d\n", options.pool_size);
  text += "max_client_conn = 200\n";
  for (const auto& [name, value] : options.settings) {
    text += absl::StrFormat("%s = %s\n", name, value);
  }
  return text;
}

}  // namespace

absl::StatusOr<std::unique_ptr<PgBouncer>> PgBouncer::Start(const PostgresCluster& cluster,
                                                            const PgBouncerOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<PrivateDirectory> directory,
                   PrivateDirectory::Make(ServerUser()));
  std::string users;
  for (const std::string& role : options.roles) {
    users += absl::StrFormat("\"%s\" \"\"\n", role);
  }
  RETURN_IF_ERROR(directory->Write("users", users).status());
  ASSIGN_OR_RETURN(std::string configuration,
                   directory->Write("pgbouncer.ini", Configuration(cluster, *directory, options)));
  std::unique_ptr<PgBouncer> bouncer(new PgBouncer(std::move(directory), std::move(configuration)));
  RETURN_IF_ERROR(bouncer->StartAgain());
  return bouncer;
}

void PgBouncer::Kill() {
  process_.reset();
}

absl::Status PgBouncer::StartAgain() {
  if (process_ != nullptr && process_->Running()) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(process_, Process::Start({.argv = {"/usr/sbin/pgbouncer", configuration_},
                                             .working_directory = socket_directory(),
                                             .user = ServerUser()}));
  const std::string url = Url("pgbouncer");
  const bool ready =
      WaitFor([&] { return PQping(url.c_str()) == PQPING_OK || !process_->Running(); },
              engine::Deadline::After(kPatience), std::chrono::milliseconds(10));
  if (!ready || !process_->Running()) {
    return absl::InternalError(absl::StrFormat("PgBouncer did not start:\n%s", Log()));
  }
  return absl::OkStatus();
}

std::string PgBouncer::Url(const std::string& database, const std::string& role) const {
  return absl::StrFormat("postgresql:///%s?host=%s&port=%d&user=%s", database, socket_directory(),
                         kPort, role);
}

std::string PgBouncer::Through(const std::string& cluster_url) const {
  constexpr std::string_view kScheme = "postgresql:///";
  const std::size_t question = cluster_url.find('?');
  const std::size_t user = cluster_url.find("user=") + 5;
  return Url(cluster_url.substr(kScheme.size(), question - kScheme.size()),
             cluster_url.substr(user, cluster_url.find('&', user) - user));
}

}  // namespace support
