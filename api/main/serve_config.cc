#include "api/main/serve_config.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <absl/strings/str_format.h>

#include "api/main/database_url.h"
#include "api/main/identity_config.h"
#include "api/main/listeners.h"
#include "api/main/values.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "engine/compactor.h"
#include "schemas/streams.h"

namespace api {
namespace {

constexpr std::int64_t kMaxCount = 1'000'000;

absl::Status ReadWithin(const Settings& settings, std::string_view name, engine::Duration min,
                        engine::Duration max, std::string_view bounds, engine::Duration& out) {
  RETURN_IF_ERROR(ReadDuration(settings, name, out));
  if (out < min || out > max) {
    return BadValue(*settings.Find(name), absl::StrFormat("must be %s", bounds));
  }
  return absl::OkStatus();
}

absl::Status ReadTimes(const Settings& settings, ServeConfig& config) {
  using std::chrono::hours, std::chrono::seconds;
  ServerOptions& server = config.server;
  TransportOptions& transport = server.transport;
  RETURN_IF_ERROR(
      ReadWithin(settings, "lease-ttl", seconds(1), hours(1), "1s to 1h", server.lease_ttl));
  RETURN_IF_ERROR(ReadWithin(settings, "server.timeouts.read", seconds(1), hours(24), "1s to 24h",
                             transport.read_timeout));
  RETURN_IF_ERROR(ReadWithin(settings, "server.timeouts.write", seconds(1), hours(24), "1s to 24h",
                             transport.write_timeout));
  RETURN_IF_ERROR(ReadWithin(settings, "health.shutdown_timeout", seconds(1), seconds(120),
                             "1s to 120s", config.shutdown_timeout));
  RETURN_IF_ERROR(ReadWithin(settings, "metrics-reconciliation-stuck-threshold",
                             engine::Duration(1), hours(24 * 365), "more than 0, at most 8760h",
                             server.reconciliation_stuck_threshold));
  RETURN_IF_ERROR(ReadDuration(settings, "database-request-timeout", transport.request_timeout));
  RETURN_IF_ERROR(ReadDuration(settings, "health-db-ping-timeout", server.readiness.ping_timeout));
  server.readiness.max_age = server.readiness.ping_timeout + std::chrono::milliseconds(500);
  return absl::OkStatus();
}

absl::Status ReadLimits(const Settings& settings, ServeConfig& config) {
  ServerOptions& server = config.server;
  std::int64_t workers = server.workers;
  auto max_queue = static_cast<std::int64_t>(server.transport.max_queue);
  auto max_body = static_cast<std::int64_t>(server.transport.max_body);
  RETURN_IF_ERROR(ReadInt(settings, "workers", 1, 256, workers));
  RETURN_IF_ERROR(ReadInt(settings, "max-queue", 1, kMaxCount, max_queue));
  RETURN_IF_ERROR(ReadInt(settings, "max-body", 1, std::int64_t{1} << 30, max_body));
  server.workers = static_cast<int>(workers);
  server.transport.max_queue = static_cast<std::size_t>(max_queue);
  server.transport.max_body = static_cast<std::size_t>(max_body);
  return ReadTimes(settings, config);
}

// The hash as tools print it; upper case is taken too.
absl::Status ReadExpectedHead(const Settings& settings, ServerOptions& server) {
  const auto value = settings.Find("expect-head");
  if (!value) {
    return absl::OkStatus();
  }
  std::string hash = value->text;
  for (char& digit : hash) {
    digit = digit >= 'A' && digit <= 'F' ? static_cast<char>(digit - 'A' + 'a') : digit;
  }
  if (hash.size() != 64 || hash.find_first_not_of("0123456789abcdef") != std::string::npos) {
    return BadValue(*value, "must be the hash of an audit entry, 64 hexadecimal digits");
  }
  server.expect_head = std::move(hash);
  return absl::OkStatus();
}

absl::Status ReadAdminTokens(const Settings& settings, ServerOptions& server) {
  const auto path = settings.Find("admin-token-file");
  if (!path) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::string text, ReadFile(path->text));
  auto tokens = AdminTokens::Parse(text);
  if (!tokens.ok()) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s: %s", path->text,
        std::string(tokens.status().message().data(), tokens.status().message().size())));
  }
  server.admin_tokens = *std::move(tokens);
  return absl::OkStatus();
}

absl::Status ReadRegistry(const Settings& settings, ServerOptions& server) {
  if (!settings.has_file() || !settings.file()->entities) {
    return absl::OkStatus();
  }
  auto registry = projections::Registry::Create(*settings.file()->entities);
  if (!registry.ok()) {
    return absl::FailedPreconditionError(
        std::string(registry.status().message().data(), registry.status().message().size()));
  }
  server.registry = *std::move(registry);
  return absl::OkStatus();
}

// The deployer's document. Without one the stock kinds accept any object; kinds that somebody wrote
// down keep their word.
absl::Status ReadSpecSchemas(const Settings& settings, ServerOptions& server) {
  const auto said = settings.Find("server-openapi-schema-path");
  const std::string path = said ? said->text : "openapi/openapi.yaml";
  std::error_code error;
  if (!said && !std::filesystem::exists(path, error)) {
    if (!settings.has_file() || !settings.file()->entities) {
      return absl::OkStatus();
    }
    auto schemas = SpecSchemas::WithoutDocument(server.registry);
    if (!schemas.ok()) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "%s: set server.openapi_schema_path",
          std::string(schemas.status().message().data(), schemas.status().message().size())));
    }
    server.spec_schemas = *std::move(schemas);
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::string document, ReadFile(path));
  auto schemas = SpecSchemas::Create(document, server.registry);
  if (!schemas.ok()) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s: %s", path,
        std::string(schemas.status().message().data(), schemas.status().message().size())));
  }
  server.spec_schemas = *std::move(schemas);
  return absl::OkStatus();
}

absl::Status ReadRetention(const Settings& settings, ServerOptions& server) {
  const auto text = settings.Find("retention");
  auto retentions = engine::ParseRetentions(schemas::Streams(), text ? text->text : "");
  if (!retentions.ok()) {
    return BadValue(*text, std::string(retentions.status().message().data(),
                                       retentions.status().message().size()));
  }
  server.compaction.retentions = *std::move(retentions);
  return absl::OkStatus();
}

// What is asked for on the command line or in a HALO_ variable has to come true here, or it is a
// mistake. A file, or the variables of another server, may serve several deployments.
absl::Status CheckIdle(const Settings& settings, Effect effect, std::string_view why,
                       ServeConfig& config) {
  for (const Settings::Value& value : settings.Given(effect)) {
    const bool is_ours = value.from_flag || value.source.starts_with("HALO_");
    if (!GUARD("serve.idle-flags", !is_ours)) {
      return value.from_flag
                 ? absl::InvalidArgumentError(value.source + ": " + std::string(why))
                 : absl::FailedPreconditionError(value.source + ": " + std::string(why));
    }
    config.without_effect.push_back(value.source);
  }
  return absl::OkStatus();
}

absl::Status ReadBackend(const Settings& settings, ServeConfig& config) {
  bool memory = false;
  RETURN_IF_ERROR(ReadBool(settings, "memory", memory));
  const bool data_dir = settings.Find("data-dir").has_value();
  ASSIGN_OR_RETURN(const bool postgres, HasDatabase(settings));
  if (int{memory} + int{data_dir} + int{postgres} > 1) {
    return absl::InvalidArgumentError(
        "only one of --memory, --data-dir and a database can keep the data");
  }
  RETURN_IF_ERROR(ReadText(settings, "data-dir", config.data_dir));
  RETURN_IF_ERROR(ReadBool(settings, "auto-migrate", config.auto_migrate));
  RETURN_IF_ERROR(ReadText(settings, "cache-dir", config.server.snapshot_dir));
  if (!postgres) {
    RETURN_IF_ERROR(CheckIdle(settings, Effect::kOnDatabase,
                              "does nothing without a database: give --database-url-file, or "
                              "leave it out",
                              config));
    if (memory) {
      RETURN_IF_ERROR(CheckIdle(settings, Effect::kOnDisk,
                                "does nothing with --memory, which keeps nothing", config));
    }
    config.backend = memory ? Backend::kMemory : Backend::kFile;
    if (memory) {
      config.server.snapshot_dir.clear();
    } else if (config.server.snapshot_dir.empty()) {
      config.server.snapshot_dir = config.data_dir + "/snapshots";
    }
    return absl::OkStatus();
  }
  config.backend = Backend::kPostgres;
  ASSIGN_OR_RETURN(config.database, ReadDatabase(settings));
  ASSIGN_OR_RETURN(config.direct_database, ReadDirectDatabase(settings));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ServeConfig> ReadServeConfig(const Settings& settings) {
  ServeConfig config;
  RETURN_IF_ERROR(ReadListeners(settings, config.server));
  RETURN_IF_ERROR(ReadLimits(settings, config));
  RETURN_IF_ERROR(ReadAccessLog(settings, config.server.access_log));
  RETURN_IF_ERROR(ReadIdentity(settings, config));
  RETURN_IF_ERROR(ReadAdminTokens(settings, config.server));
  RETURN_IF_ERROR(ReadExpectedHead(settings, config.server));
  RETURN_IF_ERROR(ReadRegistry(settings, config.server));
  RETURN_IF_ERROR(ReadSpecSchemas(settings, config.server));
  RETURN_IF_ERROR(ReadRetention(settings, config.server));
  RETURN_IF_ERROR(ReadBackend(settings, config));
  RETURN_IF_ERROR(ReadTracing(settings, config.tracing, config.without_effect));
  return config;
}

absl::StatusOr<MigrateConfig> ReadMigrateConfig(const Settings& settings) {
  MigrateConfig config;
  ASSIGN_OR_RETURN(const bool postgres, HasDatabase(settings));
  if (!postgres) {
    return absl::InvalidArgumentError("migrate needs a database: give --database-url-file");
  }
  ASSIGN_OR_RETURN(config.database, ReadDirectDatabase(settings));
  RETURN_IF_ERROR(ReadText(settings, "grant-to", config.grant_to));
  return config;
}

}  // namespace api
