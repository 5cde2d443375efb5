#include "api/main/settings.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <utility>

#include <absl/strings/str_format.h>

#include "api/main/variables.h"
#include "engine/base/status_macros.h"

namespace api {
namespace {

constexpr unsigned kBoth = kServeCommand | kMigrateCommand;

// What can be said on the command line.
constexpr auto kFlags = std::to_array<Setting>({
    {"config", "", "", "FILE", "YAML configuration file", kBoth},
    {"listen", "", "", "HOST:PORT", "where to serve (127.0.0.1:8080); port 0 picks one",
     kServeCommand},
    {"metrics-listen", "", "", "HOST:PORT", "a further listener for /metrics (off)", kServeCommand},
    {"health-listen", "", "", "HOST:PORT", "a further listener for /healthz and /readyz (off)",
     kServeCommand},
    {"data-dir", "", "", "DIR", "keep everything in this directory (./halo-data)", kServeCommand},
    {"cache-dir", "", "", "DIR", "keep snapshots for a quick start here (DATA_DIR/snapshots)",
     kServeCommand, Effect::kOnDisk},
    {"retention", "", "", "STREAM=AGE,...", "how long replaced records are kept (resources=30d)",
     kServeCommand},
    {"memory", "", "", "", "keep nothing: for trying things out", kServeCommand},
    {"database-url-file", "", "", "FILE", "keep everything in the Postgres of this URL", kBoth},
    {"direct-database-url-file", "", "", "FILE",
     "the way to the same database past a pooler, for leases and migrations", kBoth,
     Effect::kOnDatabase},
    {"database-pooler", "", "", "auto|none|transaction",
     "whether a pooler is in between (auto: each connection finds out)", kBoth,
     Effect::kOnDatabase},
    {"auto-migrate", "", "", "", "apply pending migrations before serving", kServeCommand,
     Effect::kOnDatabase},
    {"database-max-conns", "db-max-open-connections", "database.pool.max_connections", "N",
     "connections in all, at least 5 (16)", kServeCommand, Effect::kOnDatabase},
    {"database-max-idle-conns", "db-max-idle-connections", "database.pool.max_idle_connections",
     "N", "idle connections that are kept (10)", kServeCommand, Effect::kOnDatabase},
    {"database-conn-max-lifetime", "db-conn-max-lifetime", "database.pool.conn_max_lifetime",
     "DURATION", "older connections are closed (5m)", kServeCommand, Effect::kOnDatabase},
    {"database-conn-max-idle-time", "db-conn-max-idle-time", "database.pool.conn_max_idle_time",
     "DURATION", "connections idle for longer are closed (1m)", kServeCommand, Effect::kOnDatabase},
    {"database-request-timeout", "db-request-timeout", "database.pool.request_timeout", "DURATION",
     "no call and no request takes longer (30s)", kServeCommand},
    {"database-connect-attempts", "db-conn-retry-attempts", "database.pool.conn_retry_attempts",
     "N", "how often to try at start (10)", kBoth, Effect::kOnDatabase},
    {"database-connect-interval", "db-conn-retry-interval", "database.pool.conn_retry_interval",
     "DURATION", "how long to wait in between (3s)", kBoth, Effect::kOnDatabase},
    {"require-synchronous", "", "", "", "refuse a database whose commits do not wait for a standby",
     kBoth, Effect::kOnDatabase},
    {"database-insecure-tls", "", "", "", "allow other hosts without sslmode=verify-full", kBoth,
     Effect::kOnDatabase},
    {"health-db-ping-timeout", "", "health.db_ping_timeout", "DURATION",
     "a store that takes longer to answer is not ready (2s)", kServeCommand},
    {"lease-ttl", "", "", "DURATION",
     "how long others wait for a leader that is gone; the same on all replicas (15s)",
     kServeCommand},
    {"workers", "", "", "N", "threads for work that must block (4)", kServeCommand},
    {"max-queue", "", "", "N", "requests that may wait at once; more get 503 (4096)",
     kServeCommand},
    {"max-body", "", "", "BYTES", "the largest request body (8388608)", kServeCommand},
    {"expect-head", "", "", "HEX", "serve only a history whose audit holds the entry of this hash",
     kServeCommand},
    {"admin-token-file", "", "", "FILE", "operators' tokens, one name:token a line", kServeCommand},
    {"log-level", "", "logging.level", "debug|info|warn|error", "what is logged (info)", kBoth},
    {"grant-to", "", "", "ROLE", "give this role what a server needs", kMigrateCommand},
});

// What can only be said in the file and in HYPERFLEET_ variables.
constexpr auto kKeys = std::to_array<Setting>({
    {"", "", "server.host", "HOST", "", 0},
    {"", "", "server.port", "PORT", "", 0},
    {"", "", "server.timeouts.read", "DURATION", "", 0},
    {"", "", "server.timeouts.write", "DURATION", "", 0},
    {"", "", "server.jwt.enabled", "BOOL", "", 0},
    {"", "", "server.tls.enabled", "BOOL", "", 0, Effect::kMustBeOff},
    {"", "", "server.tenant.enabled", "BOOL", "", 0, Effect::kMustBeOff},
    {"", "", "server.hostname", "NAME", "", 0, Effect::kNone},
    {"", "", "database.dialect", "postgres", "", 0, Effect::kOnDatabase},
    {"", "", "database.host", "HOST", "", 0},
    {"", "", "database.port", "PORT", "", 0},
    {"", "", "database.name", "NAME", "", 0},
    {"", "", "database.username", "NAME", "", 0},
    {"", "", "database.password", "TEXT", "", 0},
    {"", "", "database.ssl.mode", "MODE", "", 0, Effect::kOnDatabase},
    {"", "", "database.ssl.root_cert_file", "FILE", "", 0, Effect::kOnDatabase},
    {"", "", "database.debug", "BOOL", "", 0, Effect::kMustBeOff},
    {"", "", "database.pool.advisory_lock_timeout", "DURATION", "", 0, Effect::kNone},
    {"", "", "logging.format", "json", "", 0},
    {"", "", "logging.output", "stderr|stdout", "", 0},
    {"", "", "logging.masking.enabled", "BOOL", "", 0, Effect::kNone},
    {"", "", "logging.otel.enabled", "BOOL", "", 0, Effect::kMustBeOff},
    {"", "", "tracing.enabled", "BOOL", "", 0, Effect::kMustBeOff},
    {"", "", "metrics.host", "HOST", "", 0},
    {"", "", "metrics.port", "PORT", "", 0},
    {"", "", "metrics.tls.enabled", "BOOL", "", 0, Effect::kMustBeOff},
    {"", "", "metrics.label_metrics_inclusion_duration", "DURATION", "", 0, Effect::kNone},
    {"", "", "health.host", "HOST", "", 0},
    {"", "", "health.port", "PORT", "", 0},
    {"", "", "health.tls.enabled", "BOOL", "", 0, Effect::kMustBeOff},
    {"", "", "health.shutdown_timeout", "DURATION", "", 0},
});

constexpr auto kSettings = [] {
  std::array<Setting, kFlags.size() + kKeys.size()> all;
  std::ranges::copy(kKeys, std::ranges::copy(kFlags, all.begin()).out);
  return all;
}();

}  // namespace

std::span<const Setting> AllSettings() {
  return kSettings;
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const bool is_open = file.is_open();
  // Reading a directory fails here; copying nothing out of an empty file would count as failure.
  const bool is_empty = is_open && file.peek() == std::ifstream::traits_type::eof();
  std::ostringstream text;
  if (!is_empty) {
    text << file.rdbuf();
  }
  if (!is_open || file.bad() || text.fail()) {
    return absl::NotFoundError(absl::StrFormat("cannot read %s", path));
  }
  return text.str();
}

absl::StatusOr<Settings> Settings::Load(std::map<std::string, std::string, std::less<>> flags,
                                        Environment environment) {
  Settings settings;
  settings.flags_ = std::move(flags);
  RETURN_IF_ERROR(CheckVariables(environment));
  settings.environment_ = std::move(environment);
  std::optional<Value> path = settings.Find("config");
  if (const auto other = settings.environment_.find("HYPERFLEET_CONFIG");
      !path && other != settings.environment_.end() && !other->second.empty()) {
    path = Value{other->second, other->first};
  }
  if (path) {
    settings.path_ = path->text;
    ASSIGN_OR_RETURN(const std::string text, ReadFile(path->text));
    auto file = ParseConfigFile(text);
    if (!file.ok()) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "%s: %s", path->text,
          std::string(file.status().message().data(), file.status().message().size())));
    }
    settings.file_ = *std::move(file);
  }
  for (const Value& value : settings.Given(Effect::kMustBeOff)) {
    if (value.text != "false") {
      return absl::FailedPreconditionError(
          absl::StrFormat("%s: this version cannot do that; set it to false", value.source));
    }
  }
  for (const Value& value : settings.Given(Effect::kNone)) {
    settings.without_effect_.push_back(value.source);
  }
  return settings;
}

std::optional<Settings::Value> Settings::Find(std::string_view flag_or_key) const {
  const auto setting = std::ranges::find_if(kSettings, [flag_or_key](const Setting& candidate) {
    return candidate.flag.empty() ? candidate.key == flag_or_key : candidate.flag == flag_or_key;
  });
  return setting == kSettings.end() ? std::nullopt : Find(*setting);
}

std::vector<Settings::Value> Settings::Given(Effect effect) const {
  std::vector<Value> given;
  for (const Setting& setting : kSettings) {
    if (setting.effect == effect) {
      if (std::optional<Value> value = Find(setting)) {
        given.push_back(*std::move(value));
      }
    }
  }
  return given;
}

std::optional<Settings::Value> Settings::Find(const Setting& setting) const {
  if (const auto flag = flags_.find(setting.flag); flag != flags_.end()) {
    return Value{flag->second, "--" + std::string(setting.flag), true};
  }
  std::vector<std::string> names;
  if (!setting.flag.empty()) {
    names.push_back(VariableName("HALO_", setting.flag));
  }
  if (!setting.key.empty()) {
    names.push_back(VariableName("HYPERFLEET_", setting.key));
  }
  for (const std::string& name : names) {
    const auto found = environment_.find(name);
    if (found != environment_.end() && !found->second.empty()) {
      return Value{found->second, name};
    }
  }
  if (file_) {
    const auto found = file_->values.find(setting.key);
    if (found != file_->values.end() && !found->second.empty()) {
      return Value{found->second, absl::StrFormat("%s in %s", setting.key, path_), false, true};
    }
  }
  return std::nullopt;
}

}  // namespace api
