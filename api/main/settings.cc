#include "api/main/settings.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include <absl/strings/str_format.h>

#include "api/main/variables.h"
#include "engine/base/log_format.h"
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
    {"workers", "", "", "N", "threads for what must block, half of them for long reads (4)",
     kServeCommand},
    {"max-queue", "", "", "N", "requests that may wait at once; more get 503 (4096)",
     kServeCommand},
    {"max-body", "", "", "BYTES", "the largest request body (8388608)", kServeCommand},
    {"expect-head", "", "", "HEX", "serve only a history whose audit holds the entry of this hash",
     kServeCommand},
    {"server-openapi-schema-path", "", "server.openapi_schema_path", "FILE",
     "the OpenAPI document with the schemas of specs (openapi/openapi.yaml, if it is there)",
     kServeCommand},
    {"admin-token-file", "", "", "FILE", "operators' tokens, one name:token a line", kServeCommand},
    {"log-level", "l", "logging.level", "debug|info|warn|error", "what is logged (info)", kBoth},
    {"grant-to", "", "", "ROLE", "give this role what a server needs", kMigrateCommand},
});

// Who may use the routes of resources.
constexpr auto kCallers = std::to_array<Setting>({
    {"server-jwt-enabled", "", "server.jwt.enabled", "",
     "check the tokens of server.jwt.configs (on where there is a configuration file)",
     kServeCommand},
    {"server-tenant-enabled", "", "server.tenant.enabled", "",
     "tell tenants apart by the headers of server.tenant.dimensions", kServeCommand},
    {"server-tenant-system-header", "", "server.tenant.system_header", "NAME",
     "the header that says `true` when the system itself asks", kServeCommand},
    {"trusted-proxy-cidrs", "", "", "CIDR,...",
     "headers of tenants and identities count from these networks only (from everywhere)",
     kServeCommand},
});

// Keys of the file of the resource API's other servers, with their flags.
constexpr auto kKeys = std::to_array<Setting>({
    {"server-host", "", "server.host", "HOST", "with --server-port: --listen", kServeCommand},
    {"server-port", "", "server.port", "PORT", "with --server-host: --listen", kServeCommand},
    {"server-read-timeout", "", "server.timeouts.read", "DURATION",
     "how long a request may take to come in, at least 1s (30s)", kServeCommand},
    {"server-write-timeout", "", "server.timeouts.write", "DURATION",
     "how long a client may take nothing of its answer, at least 1s (30s)", kServeCommand},
    {"server-https-enabled", "", "server.tls.enabled", "BOOL", "serve TLS", kServeCommand},
    {"server-https-cert-file", "", "server.tls.cert_file", "FILE", "certificates, PEM",
     kServeCommand},
    {"server-https-key-file", "", "server.tls.key_file", "FILE", "private key, PEM", kServeCommand},
    {"server-hostname", "", "server.hostname", "NAME", "of log lines (this machine's)",
     kServeCommand},
    {"db-dialect", "", "database.dialect", "postgres", "the only one there is", kBoth,
     Effect::kOnDatabase},
    {"db-host", "", "database.host", "HOST", "with the next ones: instead of a URL file", kBoth},
    {"db-port", "", "database.port", "PORT", "(5432)", kBoth},
    {"db-name", "", "database.name", "NAME", "(hyperfleet)", kBoth},
    {"db-username", "", "database.username", "NAME", "(hyperfleet)", kBoth},
    {"db-password", "", "database.password", "TEXT",
     "seen by everybody on this machine: better a "
     "file",
     kBoth},
    {"db-ssl-mode", "", "database.ssl.mode", "MODE", "disable, require, verify-ca, verify-full",
     kBoth, Effect::kOnDatabase},
    {"db-root-cert-file", "", "database.ssl.root_cert_file", "FILE",
     "whom the server has to be "
     "certified by",
     kBoth, Effect::kOnDatabase},
    {"db-debug", "", "database.debug", "BOOL", "a log line for each statement", kServeCommand,
     Effect::kOnDatabase},
    {"", "", "database.pool.advisory_lock_timeout", "DURATION", "", 0, Effect::kOnDatabase},
    {"log-format", "f", "logging.format", "json|text", "of log lines (json)", kBoth},
    {"log-output", "", "logging.output", "stderr|stdout", "where they go (stderr)", kBoth},
    {"log-masking-enabled", "", "logging.masking.enabled", "BOOL", "hide secrets in them (true)",
     kBoth},
    {"log-masking-sensitive-headers", "", "logging.masking.headers", "NAME,...",
     "headers that hold secrets", kBoth},
    {"log-masking-sensitive-fields", "", "logging.masking.fields", "WORD,...",
     "words in names of fields that hold secrets", kBoth},
    {"", "", "logging.otel.enabled", "BOOL", "", 0},
    {"", "", "tracing.enabled", "BOOL", "", 0},
    {"", "", "tracing.service_name", "NAME", "", 0},
    {"metrics-host", "", "metrics.host", "HOST", "with --metrics-port: --metrics-listen",
     kServeCommand},
    {"metrics-port", "", "metrics.port", "PORT", "with --metrics-host: --metrics-listen",
     kServeCommand},
    {"metrics-tls-enabled", "", "metrics.tls.enabled", "BOOL", "serve TLS", kServeCommand},
    {"metrics-tls-cert-file", "", "metrics.tls.cert_file", "FILE", "certificates, PEM",
     kServeCommand},
    {"metrics-tls-key-file", "", "metrics.tls.key_file", "FILE", "private key, PEM", kServeCommand},
    {"metrics-label-metrics-inclusion-duration", "", "metrics.label_metrics_inclusion_duration",
     "DURATION", "nothing", kServeCommand, Effect::kNone},
    {"metrics-reconciliation-stuck-threshold", "", "metrics.reconciliation_stuck_threshold",
     "DURATION", "a resource that is unreconciled for longer counts as stuck (10m)", kServeCommand},
    {"health-host", "", "health.host", "HOST", "with --health-port: --health-listen",
     kServeCommand},
    {"health-port", "", "health.port", "PORT", "with --health-host: --health-listen",
     kServeCommand},
    {"health-tls-enabled", "", "health.tls.enabled", "BOOL", "serve TLS", kServeCommand},
    {"health-tls-cert-file", "", "health.tls.cert_file", "FILE", "certificates, PEM",
     kServeCommand},
    {"health-tls-key-file", "", "health.tls.key_file", "FILE", "private key, PEM", kServeCommand},
    {"health-shutdown-timeout", "", "health.shutdown_timeout", "DURATION",
     "how long requests in flight are waited for at the end, 1s to 120s (20s)", kServeCommand},
});

constexpr auto kSettings = [] {
  std::array<Setting, kFlags.size() + kCallers.size() + kKeys.size()> all;
  const auto keys = std::ranges::copy(kCallers, std::ranges::copy(kFlags, all.begin()).out).out;
  std::ranges::copy(kKeys, keys);
  return all;
}();

}  // namespace

std::span<const std::string_view> UsualConfigFiles() {
  static constexpr std::string_view kFiles[] = {"/etc/hyperfleet/config.yaml",
                                                "./configs/config.yaml"};
  return kFiles;
}

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
                                        Environment environment,
                                        std::span<const std::string_view> usual_files) {
  Settings settings;
  settings.flags_ = std::move(flags);
  RETURN_IF_ERROR(CheckVariables(environment));
  ASSIGN_OR_RETURN(settings.environment_, ReadVariableFiles(std::move(environment)));
  settings.path_ = settings.FindFile(usual_files);
  if (!settings.path_.empty()) {
    ASSIGN_OR_RETURN(const std::string text, ReadFile(settings.path_));
    auto file = ParseConfigFile(text);
    if (!file.ok()) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "%s: %s", settings.path_,
          std::string(file.status().message().data(), file.status().message().size())));
    }
    settings.file_ = *std::move(file);
  }
  for (const Value& value : settings.Given(Effect::kNone)) {
    if (value.text != "false") {
      settings.without_effect_.push_back(value.source);
    }
  }
  return settings;
}

std::string Settings::FindFile(std::span<const std::string_view> usual_files) const {
  if (const std::optional<Value> path = Find("config")) {
    return path->text;
  }
  if (const auto other = environment_.find("HYPERFLEET_CONFIG");
      other != environment_.end() && !other->second.empty()) {
    return other->second;
  }
  for (const std::string_view usual : usual_files) {
    std::error_code error;
    if (std::filesystem::exists(usual, error)) {
      return std::string(usual);
    }
  }
  return "";
}

std::optional<Settings::Value> Settings::Find(std::string_view flag_or_key) const {
  const auto setting = std::ranges::find_if(kSettings, [flag_or_key](const Setting& candidate) {
    return candidate.flag == flag_or_key || candidate.key == flag_or_key;
  });
  return setting == kSettings.end() ? std::nullopt : Find(*setting);
}

std::string Settings::Variable(std::string_view name) const {
  const auto found = environment_.find(name);
  return found == environment_.end() ? "" : found->second;
}

std::vector<Settings::Line> Settings::Dump() const {
  std::vector<Line> lines;
  for (const Setting& setting : kSettings) {
    if (const std::optional<Value> value = Find(setting)) {
      const bool is_secret = setting.key == "database.password";
      lines.push_back({setting.key.empty() ? setting.flag : setting.key,
                       is_secret ? std::string(engine::kRedacted) : value->text});
    }
  }
  return lines;
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
