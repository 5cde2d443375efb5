// Where settings come from, what is refused, and what the log is told.

#include <gmock/gmock.h>

#include "api/main/settings.h"
#include "api/main/variables.h"
#include "tests/api/main/settings_fixture.h"

namespace api {
namespace {

using support::StatusIs;
using testing::HasSubstr;

class SettingsLookupTest : public SettingsTest {};

TEST_F(SettingsLookupTest, WhatDoesNothingHereIsRefused) {
  for (const char* flag :
       {"require-synchronous", "direct-database-url-file", "database-pooler", "database-max-conns",
        "database-connect-attempts", "database-insecure-tls", "auto-migrate"}) {
    for (const Flags& backend : {Flags{}, Flags{{"memory", "true"}}}) {
      Flags flags = backend;
      flags[flag] = "1";
      EXPECT_THAT(Serve(flags), StatusIs(absl::StatusCode::kInvalidArgument,
                                         HasSubstr("--" + std::string(flag) + ": does nothing")));
    }
  }
  EXPECT_THAT(Serve({{"memory", "true"}, {"cache-dir", "/c"}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--cache-dir")));
  EXPECT_THAT(
      Serve({}, {{"HALO_REQUIRE_SYNCHRONOUS", "true"}}),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("HALO_REQUIRE_SYNCHRONOUS")));
}

TEST_F(SettingsLookupTest, WhatDoesNothingHereMayStandInASharedFile) {
  const std::string pool = std::string(kOpen) + "database: {pool: {max_connections: 9}}\n";
  ASSERT_OK_AND_ASSIGN(const ServeConfig config,
                       Serve({}, {{"HYPERFLEET_DATABASE_SSL_MODE", "require"}}, pool));
  EXPECT_THAT(config.without_effect,
              testing::ElementsAre(testing::StartsWith("database.pool.max_connections in "),
                                   "HYPERFLEET_DATABASE_SSL_MODE"));
  ASSERT_OK_AND_ASSIGN(const ServeConfig used,
                       Serve({{"database-url-file", Write("url", "x")}}, {}, pool));
  EXPECT_THAT(used.without_effect, testing::IsEmpty());
  EXPECT_EQ(used.database.max_conns, 9);
}

TEST_F(SettingsLookupTest, WhenAResourceIsStuckIsConfigured) {
  ASSERT_OK_AND_ASSIGN(const ServeConfig config,
                       Serve({}, {{"HYPERFLEET_METRICS_RECONCILIATION_STUCK_THRESHOLD", "90s"}}));
  EXPECT_EQ(config.server.reconciliation_stuck_threshold, std::chrono::seconds(90));
  EXPECT_THAT(Serve({{"metrics-reconciliation-stuck-threshold", "0s"}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("stuck-threshold")));
}

TEST_F(SettingsLookupTest, AMisspeltVariableIsRefused) {
  EXPECT_THAT(Serve({}, {{"HALO_LISTNE", "127.0.0.1:1"}}),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       HasSubstr("HALO_LISTNE is no setting; did you mean HALO_LISTEN?")));
  EXPECT_THAT(
      Serve({}, {{"HALO_DATABASE_URL", "x"}}),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("HALO_DATABASE_URL_FILE?")));
  EXPECT_OK(Serve({}, {{"HALO_LISTNE", ""}}));
}

TEST_F(SettingsLookupTest, VariablesOfOthersAreLeftAlone) {
  EXPECT_OK(Serve({}, {{"HALO_SERVER", "http://localhost:8080"},
                       {"HALO_TOKEN", "t"},
                       {"HALO_MUTANT", "none"},
                       {"HALO_SEED", "1"},
                       // Kubernetes tells every pod about the services `halo` and `halo-server`.
                       {"HALO_SERVICE_HOST", "10.0.0.1"},
                       {"HALO_SERVICE_PORT_HTTP", "8080"},
                       {"HALO_PORT", "tcp://10.0.0.1:8080"},
                       {"HALO_PORT_8080_TCP_ADDR", "10.0.0.1"},
                       {"HALO_SERVER_PORT", "tcp://10.0.0.1:8080"}}));
}

TEST_F(SettingsLookupTest, LinesNameTheServerAndHideSecrets) {
  ASSERT_OK_AND_ASSIGN(const Settings stock, Settings::Load({}, {}));
  ASSERT_OK_AND_ASSIGN(const LogConfig log, ReadLogConfig(stock));
  EXPECT_FALSE(log.format.is_text);
  EXPECT_EQ(log.format.component, "api");
  EXPECT_NE(log.format.hostname, "");
  EXPECT_THAT(log.format.masked_fields, testing::IsSupersetOf({"password", "token", "secret"}));
  const std::string yaml =
      Write("log.yaml",
            "server: {hostname: pod-7}\nlogging: {format: text, output: stdout, masking: {fields: "
            "[PIN, code], headers: [X-Pin]}}\n");
  ASSERT_OK_AND_ASSIGN(const Settings set, Settings::Load({{"config", yaml}}, {}));
  ASSERT_OK_AND_ASSIGN(const LogConfig other, ReadLogConfig(set));
  EXPECT_TRUE(other.format.is_text);
  EXPECT_EQ(other.format.hostname, "pod-7");
  EXPECT_EQ(other.output, LogOutput::kStandardOutput);
  EXPECT_THAT(other.format.masked_fields, testing::ElementsAre("pin", "code"));
  AccessLogOptions access;
  ASSERT_OK(ReadAccessLog(set, access));
  EXPECT_THAT(access.masked_headers, testing::ElementsAre("X-Pin"));
  ASSERT_OK_AND_ASSIGN(const Settings off, Settings::Load({{"log-masking-enabled", "false"}}, {}));
  ASSERT_OK(ReadAccessLog(off, access));
  EXPECT_FALSE(access.is_masked);
  EXPECT_THAT(ReadLogConfig(off)->format.masked_fields, testing::IsEmpty());
}

TEST_F(SettingsLookupTest, AFileIsLookedForWhereItUsuallyIs) {
  const std::string usual = directory_->path() + "/usual.yaml";
  const std::vector<std::string_view> places = {"/nowhere/config.yaml", usual};
  const auto path = [&](Flags flags, Environment environment) {
    const auto settings = Settings::Load(std::move(flags), std::move(environment), places);
    return settings.ok() ? settings->path() : settings.status().ToString();
  };
  EXPECT_EQ(path({}, {}), "") << "none needs to be there";
  Write("usual.yaml", kOpen);
  EXPECT_EQ(path({}, {}), usual);
  const std::string named = Write("named.yaml", kOpen);
  const std::string flagged = Write("flagged.yaml", kOpen);
  EXPECT_EQ(path({}, {{"HYPERFLEET_CONFIG", named}}), named);
  EXPECT_EQ(path({{"config", flagged}}, {{"HYPERFLEET_CONFIG", named}}), flagged);
  EXPECT_THAT(path({}, {{"HYPERFLEET_CONFIG", "/nowhere"}}), HasSubstr("cannot read /nowhere"));
  EXPECT_THAT(path({{"config", "/nowhere"}}, {}), HasSubstr("cannot read /nowhere"));
}

TEST_F(SettingsLookupTest, EveryKeyHasTheFlagOfItsOtherServers) {
  const std::map<std::string_view, std::string_view> flags = {
      {"server.hostname", "server-hostname"},
      {"server.host", "server-host"},
      {"server.port", "server-port"},
      {"server.timeouts.read", "server-read-timeout"},
      {"server.timeouts.write", "server-write-timeout"},
      {"server.tls.enabled", "server-https-enabled"},
      {"server.tls.cert_file", "server-https-cert-file"},
      {"server.tls.key_file", "server-https-key-file"},
      {"database.dialect", "db-dialect"},
      {"database.host", "db-host"},
      {"database.port", "db-port"},
      {"database.name", "db-name"},
      {"database.username", "db-username"},
      {"database.password", "db-password"},
      {"database.debug", "db-debug"},
      {"database.ssl.mode", "db-ssl-mode"},
      {"database.ssl.root_cert_file", "db-root-cert-file"},
      {"logging.level", "log-level"},
      {"logging.format", "log-format"},
      {"logging.output", "log-output"},
      {"logging.masking.enabled", "log-masking-enabled"},
      {"logging.masking.headers", "log-masking-sensitive-headers"},
      {"logging.masking.fields", "log-masking-sensitive-fields"},
      {"metrics.host", "metrics-host"},
      {"metrics.port", "metrics-port"},
      {"metrics.tls.enabled", "metrics-tls-enabled"},
      {"metrics.tls.cert_file", "metrics-tls-cert-file"},
      {"metrics.tls.key_file", "metrics-tls-key-file"},
      {"metrics.label_metrics_inclusion_duration", "metrics-label-metrics-inclusion-duration"},
      {"metrics.reconciliation_stuck_threshold", "metrics-reconciliation-stuck-threshold"},
      {"health.host", "health-host"},
      {"health.port", "health-port"},
      {"health.tls.enabled", "health-tls-enabled"},
      {"health.tls.cert_file", "health-tls-cert-file"},
      {"health.tls.key_file", "health-tls-key-file"},
      {"health.shutdown_timeout", "health-shutdown-timeout"},
      {"health.db_ping_timeout", "health-db-ping-timeout"}};
  std::size_t found = 0;
  for (const Setting& setting : AllSettings()) {
    if (const auto flag = flags.find(setting.key); flag != flags.end()) {
      EXPECT_EQ(setting.flag, flag->second);
      ++found;
    }
  }
  EXPECT_EQ(found, flags.size());
}

TEST_F(SettingsLookupTest, PartsOfTheDatabaseMayStandInFiles) {
  ASSERT_OK_AND_ASSIGN(
      const ServeConfig config,
      Serve({}, {{"HYPERFLEET_DATABASE_HOST", "db"},
                 {"HYPERFLEET_DATABASE_PASSWORD_FILE", Write("password", "hush hush\n")}}));
  EXPECT_THAT(config.database.url, HasSubstr("password='hush hush'"));
  EXPECT_THAT(Serve({}, {{"HYPERFLEET_DATABASE_PASSWORD_FILE", "/nowhere"}}),
              StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(SettingsLookupTest, TheConfigurationIsShownWithoutItsSecrets) {
  ASSERT_OK_AND_ASSIGN(const Settings settings,
                       Settings::Load({{"workers", "3"}, {"db-password", "hush"}},
                                      {{"HYPERFLEET_SERVER_PORT", "81"}}));
  std::string all;
  for (const Settings::Line& line : settings.Dump()) {
    all += std::string(line.name) + "=" + line.text + " ";
  }
  EXPECT_EQ(all, "workers=3 server.port=81 database.password=***REDACTED*** ");
}

TEST_F(SettingsLookupTest, TimesHaveBounds) {
  for (const auto& [name, wrong] : Flags{{"server-read-timeout", "900ms"},
                                         {"server-write-timeout", "1ms"},
                                         {"health-shutdown-timeout", "121s"}}) {
    EXPECT_THAT(Serve({{name, wrong}}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("must be 1s to ")));
  }
  ASSERT_OK_AND_ASSIGN(const ServeConfig config, Serve({{"health-shutdown-timeout", "5s"}}));
  EXPECT_EQ(config.shutdown_timeout, std::chrono::seconds(5));
}

}  // namespace
}  // namespace api
