#include "api/main/database_url.h"

#include <string>
#include <utility>

#include <absl/strings/str_format.h>

#include "api/main/values.h"
#include "engine/base/status_macros.h"

namespace api {
namespace {

constexpr std::string_view kParts[] = {"database.host", "database.port", "database.name",
                                       "database.username", "database.password"};

// `'it''s'` of libpq's key=value form: quotes and backslashes are escaped with a backslash.
std::string Quoted(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') {
      quoted.push_back('\\');
    }
    quoted.push_back(c);
  }
  return quoted + "'";
}

absl::StatusOr<std::string> UrlOfParts(const Settings& settings) {
  std::size_t dialect = 0;
  RETURN_IF_ERROR(ReadChoice(settings, "database.dialect", {"postgres"}, dialect));
  std::string host = "localhost";
  std::int64_t port = 5432;
  std::string name = "hyperfleet";
  std::string user = "hyperfleet";
  std::string password;
  std::string ssl_mode = "disable";
  std::string root_cert;
  RETURN_IF_ERROR(ReadText(settings, "database.host", host));
  RETURN_IF_ERROR(ReadInt(settings, "database.port", 1, 65535, port));
  RETURN_IF_ERROR(ReadText(settings, "database.name", name));
  RETURN_IF_ERROR(ReadText(settings, "database.username", user));
  RETURN_IF_ERROR(ReadText(settings, "database.password", password));
  RETURN_IF_ERROR(ReadText(settings, "database.ssl.mode", ssl_mode));
  RETURN_IF_ERROR(ReadText(settings, "database.ssl.root_cert_file", root_cert));
  std::string url = absl::StrFormat("host=%s port=%d dbname=%s user=%s sslmode=%s", Quoted(host),
                                    port, Quoted(name), Quoted(user), Quoted(ssl_mode));
  if (!password.empty()) {
    url += " password=" + Quoted(password);
  }
  if (!root_cert.empty()) {
    url += " sslrootcert=" + Quoted(root_cert);
  }
  return url;
}

absl::StatusOr<engine::postgres::Options> ReadOptions(const Settings& settings, std::string url) {
  engine::postgres::Options options;
  options.url = std::move(url);
  std::size_t pooler = 0;
  RETURN_IF_ERROR(ReadChoice(settings, "database-pooler", {"auto", "none", "transaction"}, pooler));
  options.pooler = static_cast<engine::postgres::Pooler>(pooler);
  std::int64_t max_conns = options.max_conns;
  std::int64_t max_idle = options.max_idle_conns;
  std::int64_t attempts = options.connect_attempts;
  RETURN_IF_ERROR(ReadInt(settings, "database-max-conns", 5, 200, max_conns));
  RETURN_IF_ERROR(ReadInt(settings, "database-max-idle-conns", 0, 200, max_idle));
  RETURN_IF_ERROR(ReadInt(settings, "database-connect-attempts", 1, 10'000, attempts));
  options.max_conns = static_cast<int>(max_conns);
  options.max_idle_conns = static_cast<int>(max_idle);
  options.connect_attempts = static_cast<int>(attempts);
  RETURN_IF_ERROR(ReadDuration(settings, "database-conn-max-lifetime", options.conn_max_lifetime));
  RETURN_IF_ERROR(
      ReadDuration(settings, "database-conn-max-idle-time", options.conn_max_idle_time));
  RETURN_IF_ERROR(ReadDuration(settings, "database-request-timeout", options.request_timeout));
  RETURN_IF_ERROR(ReadDuration(settings, "database-connect-interval", options.connect_interval));
  RETURN_IF_ERROR(ReadBool(settings, "database-insecure-tls", options.insecure_tls));
  RETURN_IF_ERROR(ReadBool(settings, "database.debug", options.log_statements));
  RETURN_IF_ERROR(
      ReadDuration(settings, "database.pool.advisory_lock_timeout", options.migration_patience));
  RETURN_IF_ERROR(ReadBool(settings, "require-synchronous", options.require_synchronous));
  return options;
}

}  // namespace

absl::StatusOr<bool> HasDatabase(const Settings& settings) {
  const bool by_file = settings.Find("database-url-file").has_value();
  for (const std::string_view part : kParts) {
    const auto value = settings.Find(part);
    if (value && by_file) {
      return absl::FailedPreconditionError(
          absl::StrFormat("%s and --database-url-file both name a database", value->source));
    }
    if (value) {
      return true;
    }
  }
  return by_file;
}

absl::StatusOr<engine::postgres::Options> ReadDatabase(const Settings& settings) {
  std::string url;
  if (const auto path = settings.Find("database-url-file")) {
    ASSIGN_OR_RETURN(url, ReadFile(path->text));
  } else {
    ASSIGN_OR_RETURN(url, UrlOfParts(settings));
  }
  ASSIGN_OR_RETURN(engine::postgres::Options options, ReadOptions(settings, std::move(url)));
  if (const auto path = settings.Find("direct-database-url-file")) {
    ASSIGN_OR_RETURN(options.direct_url, ReadFile(path->text));
  }
  return options;
}

absl::StatusOr<engine::postgres::Options> ReadDirectDatabase(const Settings& settings) {
  const auto path = settings.Find("direct-database-url-file");
  if (!path) {
    return ReadDatabase(settings);
  }
  ASSIGN_OR_RETURN(std::string url, ReadFile(path->text));
  ASSIGN_OR_RETURN(engine::postgres::Options options, ReadOptions(settings, std::move(url)));
  options.pooler = engine::postgres::Pooler::kNone;
  return options;
}

}  // namespace api
