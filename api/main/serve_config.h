// What the settings mean, for each command.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "api/main/settings.h"
#include "api/main/tracing_config.h"
#include "api/server/access_log.h"
#include "api/server/async_log.h"
#include "api/server/server.h"
#include "engine/base/log_format.h"
#include "engine/postgres/postgres.h"

namespace api {

struct LogConfig {
  engine::Severity level = engine::Severity::kInfo;
  LogOutput output = LogOutput::kStandardError;
  engine::LogFormat format;
};

enum class Backend { kMemory, kFile, kPostgres };

struct ServeConfig {
  ServerOptions server;
  Backend backend = Backend::kFile;
  std::string data_dir = "./halo-data";
  engine::postgres::Options database;         // Backend::kPostgres.
  engine::postgres::Options direct_database;  // For migrations.
  bool auto_migrate = false;
  engine::Duration shutdown_timeout = std::chrono::seconds(20);
  TracingConfig tracing;
  // Said once at start: what is open to whom. Empty: nothing to warn of.
  std::string warning;
  // Of the file, which several servers may share: settings that do nothing where this one keeps
  // its data.
  std::vector<std::string> without_effect;
};

struct MigrateConfig {
  engine::postgres::Options database;
  std::string grant_to;
};

// All fail with kInvalidArgument when a flag is wrong (exit code 2), with kFailedPrecondition when
// something else that was configured is, and with kNotFound for a file that cannot be read.
absl::StatusOr<LogConfig> ReadLogConfig(const Settings& settings);
absl::Status ReadAccessLog(const Settings& settings, AccessLogOptions& options);
absl::StatusOr<ServeConfig> ReadServeConfig(const Settings& settings);
absl::StatusOr<MigrateConfig> ReadMigrateConfig(const Settings& settings);

// `5m`, `1h30m`, `250ms`, `1.5s`. Empty when it is not a positive duration.
std::optional<engine::Duration> ParseDuration(std::string_view text);

}  // namespace api
