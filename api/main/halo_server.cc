// halo-server: the API server, and what brings its database up to date.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>
#include <absl/strings/str_format.h>
#include <sys/resource.h>
#include <unistd.h>

#include "api/main/database_metrics.h"
#include "api/main/serve_config.h"
#include "api/main/settings.h"
#include "api/main/shutdown_limit.h"
#include "api/main/signals.h"
#include "api/server/async_log.h"
#include "api/server/server.h"
#include "api/server/version.h"
#include "engine/base/status_macros.h"
#include "engine/file/file.h"
#include "engine/memory/memory.h"
#include "engine/postgres/migrate.h"
#include "engine/postgres/postgres.h"
#include "schemas/streams.h"

namespace api {
namespace {

constexpr int kFailure = 1;
constexpr int kWrongUse = 2;

std::string VersionText() {
  return absl::StrFormat("halo-server %s (commit %s, %s)", kVersion, kCommit, kBuildTime);
}

int Fail(const absl::Status& why, int code) {
  std::fprintf(stderr, "error: %.*s\n", static_cast<int>(why.message().size()),
               why.message().data());
  return code;
}

// What was wrong with flags is wrong use; everything else is an error.
int FailOfSettings(const absl::Status& why) {
  return Fail(why, absl::IsInvalidArgument(why) ? kWrongUse : kFailure);
}

Environment ReadEnvironment() {
  Environment environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (text.starts_with("HALO_") || text.starts_with("HYPERFLEET_") || text.starts_with("OTEL_")) {
      environment.emplace(text.substr(0, equals), text.substr(equals + 1));
    }
  }
  return environment;
}

// Declares the flags of a command; `values` gets what was given, by flag, after parsing.
class Flags {
 public:
  Flags(CLI::App& command, CommandBit bit) {
    for (const Setting& setting : AllSettings()) {
      if (setting.flag.empty() || (setting.commands & bit) == 0) {
        continue;
      }
      std::string names = "--" + std::string(setting.flag);
      if (!setting.alias.empty()) {
        names += (setting.alias.size() == 1 ? ",-" : ",--") + std::string(setting.alias);
      }
      const std::string help(setting.help);
      CLI::Option* option =
          setting.value.empty() ? command.add_flag(names, help) : command.add_option(names, help);
      if (!setting.value.empty()) {
        // `--log-masking-enabled` alone is `true`.
        const bool is_bool = setting.value == "BOOL";
        option->type_name(std::string(setting.value))->expected(is_bool ? 0 : 1, 1);
        option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
      }
      options_.emplace_back(setting.flag, option);
    }
  }

  std::map<std::string, std::string, std::less<>> Given() const {
    std::map<std::string, std::string, std::less<>> given;
    for (const auto& [flag, option] : options_) {
      if (option->count() > 0) {
        const std::vector<std::string>& results = option->results();
        given.emplace(flag, results.empty() || results.back().empty() ? "true" : results.back());
      }
    }
    return given;
  }

 private:
  std::vector<std::pair<std::string, CLI::Option*>> options_;
};

absl::Status MigrateFirst(const ServeConfig& config) {
  if (!config.auto_migrate) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::vector<std::string> applied,
                   engine::postgres::Migrate(config.direct_database));
  for (const std::string& name : applied) {
    engine::Log(engine::Severity::kInfo, "applied migration", {{"migration", name}});
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<engine::Engine>> OpenEngine(ServeConfig& config) {
  switch (config.backend) {
    case Backend::kMemory:
      return engine::memory::Open(schemas::Streams());
    case Backend::kFile: {
      engine::file::Options options;
      options.dir = config.data_dir;
      return engine::file::Open(schemas::Streams(), std::move(options));
    }
    case Backend::kPostgres:
      break;
  }
  RETURN_IF_ERROR(MigrateFirst(config));
  auto stats = std::make_shared<engine::postgres::Stats>();
  config.database.stats = stats;
  config.server.backend_metrics = [stats](Samples& samples) { AddDatabase(*stats, samples); };
  config.server.backend_facts = [stats] { return stats->facts(); };
  return engine::postgres::Open(schemas::Streams(), config.database);
}

// How many connections may be open at once. Each takes a file of the process, of which it may have
// only 1024 unless it asks for more; some are left for the store and for the other listeners, or
// clients that only connect would keep the store from opening its files.
std::size_t ConnectionLimit(std::size_t wanted) {
  constexpr rlim_t kOwnFiles = 512;
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) {
    return wanted;
  }
  const rlim_t before = files.rlim_cur;
  files.rlim_cur = files.rlim_max;
  const rlim_t limit = setrlimit(RLIMIT_NOFILE, &files) == 0 ? files.rlim_max : before;
  const rlim_t left = limit > 2 * kOwnFiles ? limit - kOwnFiles : limit / 2;
  return static_cast<std::size_t>(std::min<rlim_t>(left, wanted));
}

void LogStart(const Settings& settings, const ServeConfig& config, const engine::Engine& engine) {
  engine::Log(engine::Severity::kInfo, "starting",
              {{"commit", kCommit}, {"backend", engine.backend()}, {"config", settings.path()}});
  std::vector<engine::LogField> given;
  for (const Settings::Line& line : settings.Dump()) {
    given.emplace_back(line.name, line.text);
  }
  engine::LogFields(engine::Severity::kInfo, "configuration", given);
  for (const auto* list : {&settings.without_effect(), &config.without_effect}) {
    for (const std::string& setting : *list) {
      engine::Log(engine::Severity::kWarning, "setting has no effect", {{"setting", setting}});
    }
  }
  if (!config.warning.empty()) {
    engine::Log(engine::Severity::kWarning, config.warning, {});
  }
  for (const std::string& schema : config.server.spec_schemas.missing()) {
    engine::Log(engine::Severity::kWarning, "schema of specs is missing: any object will do",
                {{"schema", schema}});
  }
  if (config.server.admin_tokens.empty()) {
    engine::Log(engine::Severity::kInfo,
                "no --admin-token-file: the routes of operators refuse everybody", {});
  }
}

// What is left to do when the last answer went out takes milliseconds, unless somebody else holds
// it up.
constexpr engine::Duration kCleanUpTime = std::chrono::seconds(3);
// And what a collector of traces may take for those that are left.
constexpr engine::Duration kFlushTime = std::chrono::seconds(5);

int Serve(const Settings& settings, Signals& signals) {
  auto config = ReadServeConfig(settings);
  if (!config.ok()) {
    return FailOfSettings(config.status());
  }
  config->server.transport.max_connections =
      ConnectionLimit(config->server.transport.max_connections);
  ShutdownLimit limit;
  const auto engine = OpenEngine(*config);
  if (!engine.ok()) {
    return Fail(engine.status(), kFailure);
  }
  LogStart(settings, *config, **engine);
  const engine::Duration shutdown_timeout = config->shutdown_timeout;
  const char* const scheme = config->server.tls == nullptr ? "http" : "https";
  const std::shared_ptr<Tracer> tracer = StartTracer(config->tracing);
  config->server.tracer = tracer;
  auto server = Server::Start(**engine, std::move(config->server));
  if (!server.ok()) {
    return Fail(server.status(), kFailure);
  }
  signals.Arm();
  std::printf("listening on %s://%s\n", scheme, (*server)->address().c_str());
  std::fflush(stdout);
  for (const std::string* other : {&(*server)->metrics_address(), &(*server)->health_address()}) {
    if (!other->empty()) {
      engine::Log(engine::Severity::kInfo, "also listening", {{"address", *other}});
    }
  }
  const int number = signals.Wait();
  engine::Log(engine::Severity::kInfo, "shutting down", {{"signal", number}});
  const engine::Duration flush_time = tracer == nullptr ? engine::Duration(0) : kFlushTime;
  limit.Start(engine::Deadline::After(shutdown_timeout + flush_time + kCleanUpTime));
  const bool whole = (*server)->Drain(engine::Deadline::After(shutdown_timeout));
  if (tracer != nullptr) {
    tracer->Flush(engine::Deadline::After(flush_time));
  }
  engine::Log(engine::Severity::kInfo, "shut down", {{"all_answered", whole}});
  return 0;
}

int RunMigrate(const Settings& settings) {
  const auto config = ReadMigrateConfig(settings);
  if (!config.ok()) {
    return FailOfSettings(config.status());
  }
  const auto applied = engine::postgres::Migrate(config->database, config->grant_to);
  if (!applied.ok()) {
    return Fail(applied.status(), kFailure);
  }
  for (const std::string& name : *applied) {
    std::printf("applied %s\n", name.c_str());
  }
  if (applied->empty()) {
    std::printf("nothing to apply\n");
  }
  if (!config->grant_to.empty()) {
    std::printf("granted to %s\n", config->grant_to.c_str());
  }
  return 0;
}

int Run(const Flags& flags, bool migrate, Signals& signals) {
  auto settings = Settings::Load(flags.Given(), ReadEnvironment(), UsualConfigFiles());
  if (!settings.ok()) {
    return FailOfSettings(settings.status());
  }
  const auto log = ReadLogConfig(*settings);
  if (!log.ok()) {
    return FailOfSettings(log.status());
  }
  engine::SetLogLevel(log->level);
  engine::SetLogFormat(log->format);
  const AsyncLog async_log(log->output);
  return migrate ? RunMigrate(*settings) : Serve(*settings, signals);
}

int Main(int argc, char** argv) {
  Signals signals;
  CLI::App app("Halo: an event-sourced control-plane store and server", "halo-server");
  app.set_version_flag("--version", VersionText());
  app.footer("example: halo-server serve --data-dir ./halo-data");
  app.require_subcommand(1);
  CLI::App* serve = app.add_subcommand("serve", "serve the API");
  serve->footer(
      "Every flag can also be given as HALO_<FLAG> in the environment.\n"
      "example: halo-server serve --listen 127.0.0.1:8080 --database-url-file url.txt");
  const Flags serve_flags(*serve, kServeCommand);
  CLI::App* migrate = app.add_subcommand("migrate", "bring the database's schema up to date");
  migrate->footer("example: halo-server migrate --database-url-file url.txt --grant-to halo_app");
  const Flags migrate_flags(*migrate, kMigrateCommand);
  CLI::App* version = app.add_subcommand("version", "say which version this is");
  version->footer("example: halo-server version");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return kWrongUse;
  }
  if (version->parsed()) {
    std::printf("%s\n", VersionText().c_str());
    return 0;
  }
  return migrate->parsed() ? Run(migrate_flags, true, signals) : Run(serve_flags, false, signals);
}

}  // namespace
}  // namespace api

int main(int argc, char** argv) {
  try {
    return api::Main(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
