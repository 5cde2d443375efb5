#include "api/main/settings.h"

#include <gmock/gmock.h>

#include "api/main/database_url.h"
#include "api/main/serve_config.h"
#include "api/main/values.h"
#include "schemas/streams.h"
#include "tests/api/main/settings_fixture.h"
#include "tests/support/certificate.h"
#include "tests/support/status_matchers.h"

namespace api {
namespace {

using support::StatusIs;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST_F(SettingsTest, DefaultsAreOpenOnLoopbackWithAWarning) {
  ASSERT_OK_AND_ASSIGN(const ServeConfig config, Serve({}));
  EXPECT_EQ(config.server.listen, "127.0.0.1:8080");
  EXPECT_EQ(config.backend, Backend::kFile);
  EXPECT_EQ(config.data_dir, "./halo-data");
  EXPECT_THAT(config.warning, HasSubstr("open to everybody"));
  EXPECT_EQ(config.server.metrics_listen, "");
  EXPECT_EQ(config.server.transport.max_body, std::size_t{8} << 20);
}

TEST_F(SettingsTest, FlagsBeatEnvironmentBeatsFileBeatsDefault) {
  const std::string yaml = std::string(kOpen) + "database: {pool: {request_timeout: 1s}}\n";
  const auto timeout = [&](Flags flags, Environment environment, const std::string& file) {
    const auto config = Serve(std::move(flags), std::move(environment), file);
    EXPECT_OK(config);
    return config->server.transport.request_timeout;
  };
  const Environment ours = {{"HALO_DATABASE_REQUEST_TIMEOUT", "3s"},
                            {"HYPERFLEET_DATABASE_POOL_REQUEST_TIMEOUT", "2s"}};
  const Environment theirs = {{"HYPERFLEET_DATABASE_POOL_REQUEST_TIMEOUT", "2s"}};
  EXPECT_EQ(timeout({}, {}, kOpen), std::chrono::seconds(30));
  EXPECT_EQ(timeout({}, {}, yaml), std::chrono::seconds(1));
  EXPECT_EQ(timeout({}, theirs, yaml), std::chrono::seconds(2));
  EXPECT_EQ(timeout({}, ours, yaml), std::chrono::seconds(3));
  EXPECT_EQ(timeout({{"database-request-timeout", "4s"}}, ours, yaml), std::chrono::seconds(4));
}

TEST_F(SettingsTest, StrangersNeedAnExplicitYes) {
  EXPECT_THAT(Serve({{"listen", "0.0.0.0:80"}}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("without authentication")));
  EXPECT_OK(Serve({{"listen", "[::1]:80"}}));
  EXPECT_OK(Serve({{"listen", "localhost:80"}}));
  ASSERT_OK_AND_ASSIGN(const ServeConfig open, Serve({{"listen", "0.0.0.0:80"}}, {}, kOpen));
  EXPECT_EQ(open.warning, "");
  EXPECT_OK(Serve({{"listen", "0.0.0.0:80"}}, {{"HYPERFLEET_SERVER_JWT_ENABLED", "false"}}));
}

TEST_F(SettingsTest, ListenersComeFromTheFileToo) {
  const std::string yaml =
      "server: {host: 127.0.0.2, port: 81, jwt: {enabled: false}}\n"
      "metrics: {port: 9091}\nhealth: {host: '::1'}\n";
  ASSERT_OK_AND_ASSIGN(const ServeConfig config, Serve({}, {}, yaml));
  EXPECT_EQ(config.server.listen, "127.0.0.2:81");
  EXPECT_EQ(config.server.metrics_listen, "localhost:9091");
  EXPECT_EQ(config.server.health_listen, "[::1]:8080");
  ASSERT_OK_AND_ASSIGN(const ServeConfig flag, Serve({{"listen", "127.0.0.1:1"}}, {}, yaml));
  EXPECT_EQ(flag.server.listen, "127.0.0.1:1");
}

TEST_F(SettingsTest, OneBackendOnly) {
  EXPECT_THAT(Serve({{"memory", "true"}, {"data-dir", "x"}}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(Serve({{"memory", "true"}})->backend, Backend::kMemory);
  const std::string url = Write("url", "postgres://localhost/x\n");
  EXPECT_EQ(Serve({{"database-url-file", url}})->backend, Backend::kPostgres);
  EXPECT_THAT(Serve({{"database-url-file", url}, {"data-dir", "x"}}),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Serve({{"database-url-file", "/nowhere"}}), StatusIs(absl::StatusCode::kNotFound));
}

TEST_F(SettingsTest, TheDatabaseCanBeGivenInParts) {
  const std::string yaml = std::string(kOpen) +
                           "database: {host: db, port: 5433, name: n, username: it's, password: "
                           "'p\\w', ssl: {mode: verify-full}}\n";
  ASSERT_OK_AND_ASSIGN(const ServeConfig config, Serve({}, {}, yaml));
  EXPECT_EQ(config.backend, Backend::kPostgres);
  EXPECT_EQ(config.database.url,
            "host='db' port=5433 dbname='n' user='it\\'s' sslmode='verify-full' password='p\\\\w'");
  const std::string url = Write("url", "postgres://localhost/x\n");
  EXPECT_THAT(Serve({{"database-url-file", url}}, {}, yaml),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("both")));
}

TEST_F(SettingsTest, MigrationsGoPastThePooler) {
  ASSERT_OK_AND_ASSIGN(const ServeConfig config,
                       Serve({{"database-url-file", Write("url", "pooled")},
                              {"direct-database-url-file", Write("direct", "direct")},
                              {"database-pooler", "transaction"}}));
  EXPECT_EQ(config.database.url, "pooled");
  EXPECT_EQ(config.database.pooler, engine::postgres::Pooler::kTransaction);
  EXPECT_EQ(config.direct_database.url, "direct");
  EXPECT_EQ(config.database.direct_url, "direct") << "leases go past it too";
  EXPECT_EQ(config.direct_database.pooler, engine::postgres::Pooler::kNone);
}

TEST_F(SettingsTest, TheDatabaseCanBeTuned) {
  ASSERT_OK_AND_ASSIGN(const ServeConfig config, Serve({{"database-url-file", Write("url", "x")},
                                                        {"database-max-conns", "5"},
                                                        {"database-max-idle-conns", "3"},
                                                        {"database-conn-max-lifetime", "1h"},
                                                        {"database-conn-max-idle-time", "2m"},
                                                        {"database-request-timeout", "9s"},
                                                        {"database-connect-attempts", "4"},
                                                        {"database-connect-interval", "250ms"},
                                                        {"database-insecure-tls", "true"},
                                                        {"require-synchronous", "true"},
                                                        {"health-db-ping-timeout", "1s"}}));
  const engine::postgres::Options& database = config.database;
  EXPECT_EQ(database.max_conns, 5);
  EXPECT_EQ(database.max_idle_conns, 3);
  EXPECT_EQ(database.conn_max_lifetime, std::chrono::hours(1));
  EXPECT_EQ(database.conn_max_idle_time, std::chrono::minutes(2));
  EXPECT_EQ(database.request_timeout, std::chrono::seconds(9));
  EXPECT_EQ(config.server.transport.request_timeout, std::chrono::seconds(9));
  EXPECT_EQ(database.connect_attempts, 4);
  EXPECT_EQ(database.connect_interval, std::chrono::milliseconds(250));
  EXPECT_TRUE(database.insecure_tls);
  EXPECT_TRUE(database.require_synchronous);
  EXPECT_EQ(config.server.readiness.ping_timeout, std::chrono::seconds(1));
  EXPECT_EQ(config.direct_database.connect_attempts, 4);
  ASSERT_OK_AND_ASSIGN(const ServeConfig usual, Serve({{"database-url-file", Write("url", "x")}}));
  EXPECT_EQ(usual.database.max_conns, 16);
  EXPECT_EQ(usual.database.max_idle_conns, 10);
  EXPECT_FALSE(usual.database.insecure_tls);
  EXPECT_FALSE(usual.database.require_synchronous);
  EXPECT_THAT(Serve({{"database-url-file", Write("url", "x")}, {"database-max-conns", "4"}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("5 to 200")));
}

TEST_F(SettingsTest, EveryDatabaseFlagHasItsOtherSpelling) {
  const std::map<std::string_view, std::string_view> aliases = {
      {"database-max-conns", "db-max-open-connections"},
      {"database-max-idle-conns", "db-max-idle-connections"},
      {"database-conn-max-lifetime", "db-conn-max-lifetime"},
      {"database-conn-max-idle-time", "db-conn-max-idle-time"},
      {"database-request-timeout", "db-request-timeout"},
      {"database-connect-attempts", "db-conn-retry-attempts"},
      {"database-connect-interval", "db-conn-retry-interval"}};
  std::size_t found = 0;
  for (const Setting& setting : AllSettings()) {
    if (const auto alias = aliases.find(setting.flag); alias != aliases.end()) {
      EXPECT_EQ(setting.alias, alias->second);
      ++found;
    }
  }
  EXPECT_EQ(found, aliases.size());
}

TEST_F(SettingsTest, BadValuesNameTheirSource) {
  EXPECT_THAT(Serve({{"workers", "0"}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("--workers")));
  EXPECT_THAT(Serve({}, {{"HALO_MAX_BODY", "much"}}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("HALO_MAX_BODY")));
  EXPECT_THAT(
      Serve({}, {}, std::string(kOpen) + "health: {db_ping_timeout: soon}\n"),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("health.db_ping_timeout in ")));
  EXPECT_THAT(Serve({{"database-pooler", "maybe"}, {"database-url-file", Write("url", "x")}}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("auto, none, transaction")));
}

TEST_F(SettingsTest, AListenerIsAHostAndAPort) {
  for (const char* flag : {"listen", "metrics-listen", "health-listen"}) {
    for (const char* wrong : {"nonsense", "127.0.0.1:", "127.0.0.1:65536", "::1:80", "h:-1"}) {
      EXPECT_THAT(Serve({{flag, wrong}}),
                  StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("must be HOST:PORT")))
          << flag << " " << wrong;
    }
  }
  EXPECT_THAT(Serve({}, {{"HALO_LISTEN", "nonsense"}}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("HALO_LISTEN")));
}

TEST_F(SettingsTest, TlsNeedsItsFiles) {
  EXPECT_THAT(Serve({}, {}, "server: {jwt: {enabled: false}, tls: {enabled: true}}\n"),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("server.tls.cert_file")));
  EXPECT_THAT(Serve({{"server-https-enabled", "true"},
                     {"server-https-cert-file", Write("cert", "no PEM")},
                     {"server-https-key-file", "/nowhere"}}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("/cert: ")));
  ASSERT_OK_AND_ASSIGN(const support::Certificate certificate, support::MakeCertificate());
  ASSERT_OK_AND_ASSIGN(
      const ServeConfig config,
      Serve({{"health-tls-enabled", "true"},
             {"server-https-cert-file", Write("cert.pem", certificate.certificate)},
             {"server-https-key-file", Write("key.pem", certificate.key)}}));
  EXPECT_EQ(config.server.tls, nullptr);
  EXPECT_EQ(config.server.metrics_tls, nullptr);
  EXPECT_NE(config.server.health_tls, nullptr) << "with the server's files";
  EXPECT_OK(Serve({}, {}, "server: {jwt: {enabled: false}, tls: {enabled: false}}\n"));
}

TEST_F(SettingsTest, AdminTokensAreRead) {
  ASSERT_OK_AND_ASSIGN(const ServeConfig config,
                       Serve({{"admin-token-file", Write("tokens", "ops:token\n")}}));
  EXPECT_FALSE(config.server.admin_tokens.empty());
  EXPECT_THAT(Serve({{"admin-token-file", Write("bad", "secret\n")}}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("line 1")));
}

TEST_F(SettingsTest, EmptyFilesCanBeRead) {
  ASSERT_OK_AND_ASSIGN(const ServeConfig config, Serve({{"admin-token-file", Write("empty", "")}}));
  EXPECT_TRUE(config.server.admin_tokens.empty());
  EXPECT_THAT(Serve({{"admin-token-file", "/"}}), StatusIs(absl::StatusCode::kNotFound));
  // An empty configuration file is one that does not switch authentication off.
  EXPECT_THAT(Serve({{"config", Write("empty.yaml", "")}}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("server.jwt")));
  EXPECT_THAT(Serve({}, {}, std::string(kOpen) + "---\nnonsense: 1\n"),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("more than one")));
}

TEST_F(SettingsTest, ANameIsNoLoopbackAddress) {
  EXPECT_OK(Serve({{"listen", "127.0.0.2:80"}}));
  EXPECT_THAT(Serve({{"listen", "127.example.com:80"}}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("without authentication")));
}

TEST_F(SettingsTest, AnExpectedHeadIsAHash) {
  ASSERT_OK_AND_ASSIGN(const ServeConfig config, Serve({{"expect-head", std::string(64, 'A')}}));
  EXPECT_EQ(config.server.expect_head, std::string(64, 'a'));
  for (const std::string& wrong : {std::string(63, 'a'), std::string(64, 'g'), std::string("x")}) {
    EXPECT_THAT(Serve({{"expect-head", wrong}}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("expect-head")));
  }
}

TEST_F(SettingsTest, TheTimeToLiveOfLeasesHasBounds) {
  ASSERT_OK_AND_ASSIGN(const ServeConfig stock, Serve({}));
  EXPECT_EQ(stock.server.lease_ttl, std::chrono::seconds(15));
  ASSERT_OK_AND_ASSIGN(const ServeConfig set, Serve({{"lease-ttl", "6s"}}));
  EXPECT_EQ(set.server.lease_ttl, std::chrono::seconds(6));
  for (const char* wrong : {"0s", "500ms", "2h", "soon"}) {
    EXPECT_THAT(Serve({{"lease-ttl", wrong}}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("lease-ttl")))
        << wrong;
  }
}

TEST_F(SettingsTest, RetentionsAreTheCataloguesUnlessToldOtherwise) {
  ASSERT_OK_AND_ASSIGN(const ServeConfig stock, Serve({}));
  const engine::Duration month = std::chrono::hours(24 * 30);
  const engine::Retentions defaults = {{schemas::kResourcesStream, month},
                                       {schemas::kControllerStateStream, month},
                                       {schemas::kDocumentsStream, month},
                                       {schemas::kStatusesStream, std::chrono::hours(24)}};
  EXPECT_EQ(stock.server.compaction.retentions, defaults);
  ASSERT_OK_AND_ASSIGN(const ServeConfig never, Serve({{"retention", "resources=never"}}));
  EXPECT_FALSE(never.server.compaction.retentions.contains(schemas::kResourcesStream));
  for (const char* wrong : {"resources", "audit=1d", "nothing=1d", "resources=1d,resources=2d"}) {
    EXPECT_THAT(Serve({{"retention", wrong}}),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("retention")))
        << wrong;
  }
}

TEST_F(SettingsTest, SnapshotsAreKeptWithTheDataOrWhereTheyAreToldTo) {
  ASSERT_OK_AND_ASSIGN(const ServeConfig files, Serve({{"data-dir", "/data"}}));
  EXPECT_EQ(files.server.snapshot_dir, "/data/snapshots");
  ASSERT_OK_AND_ASSIGN(const ServeConfig cache,
                       Serve({{"data-dir", "/data"}, {"cache-dir", "/cache"}}));
  EXPECT_EQ(cache.server.snapshot_dir, "/cache");
  ASSERT_OK_AND_ASSIGN(const ServeConfig memory, Serve({{"memory", "true"}}));
  EXPECT_EQ(memory.server.snapshot_dir, "");
}

TEST_F(SettingsTest, LogsAreConfigured) {
  ASSERT_OK_AND_ASSIGN(const Settings settings, Settings::Load({{"log-level", "error"}}, {}));
  ASSERT_OK_AND_ASSIGN(const LogConfig log, ReadLogConfig(settings));
  EXPECT_EQ(log.level, engine::Severity::kError);
  EXPECT_EQ(log.output, LogOutput::kStandardError);
}

TEST_F(SettingsTest, MigrateNeedsADatabase) {
  ASSERT_OK_AND_ASSIGN(const Settings none, Settings::Load({}, {}));
  EXPECT_THAT(ReadMigrateConfig(none), StatusIs(absl::StatusCode::kInvalidArgument));
  ASSERT_OK_AND_ASSIGN(
      const Settings some,
      Settings::Load({{"database-url-file", Write("url", "x")}, {"grant-to", "app"}}, {}));
  ASSERT_OK_AND_ASSIGN(const MigrateConfig config, ReadMigrateConfig(some));
  EXPECT_EQ(config.grant_to, "app");
}

TEST(ConfigFileTest, EveryMistakeIsFoundWithItsLine) {
  const std::pair<std::string, std::string> mistakes[] = {
      {"server:\n  prot: 1\n", "line 2: unknown key server.prot"},
      {"nothing: 1\n", "line 1: unknown key nothing"},
      {"server: {port: 1}\nserver: {port: 2}\n", "line 2: server is there twice"},
      {"server: {port: 1, port: 2}\n", "port is there twice"},
      {"server: 5\n", "line 1: expected a mapping"},
      {"server:\n  port: [1]\n", "line 2: expected a single value"},
      {"server: {port: 1\n", "line"},
      {"entities: {}\n", "entities must be a list"},
      {"entities:\n- knid: A\n", "line 2: unknown key entities[].knid"},
      {"entities:\n- on_parent_delete: maybe\n", "restrict or cascade"},
      {"entities:\n- require_spec_schema: maybe\n", "true or false"},
      {"entities:\n- references: {}\n", "references must be a list"},
      {"entities:\n- references: [{ref_typ: a}]\n", "entities[].references[].ref_typ"},
      {"entities:\n- references: [{min: many}]\n", "expected a number"},
      {"entities:\n- conditions: [{typ: A}]\n", "entities[].conditions[].typ"},
      {"entities:\n- conditions: [{when: {expresion: x}}]\n", "conditions[].when.expresion"},
      {"entities:\n- conditions: [{output: {state: {}}}]\n", "conditions[].output.state"},
      {"entities:\n- name_max_len: long\n", "expected a number"},
  };
  for (const auto& [yaml, why] : mistakes) {
    EXPECT_THAT(ParseConfigFile(yaml), StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(why)))
        << yaml;
  }
}

TEST(ConfigFileTest, EntitiesAreRead) {
  ASSERT_OK_AND_ASSIGN(
      const ConfigFile file,
      ParseConfigFile("entities:\n"
                      "- {kind: Zone, plural: zones, required_adapters: [dns], name_min_len: 2}\n"
                      "- {kind: Rack, plural: racks, parent_kind: Zone, on_parent_delete: "
                      "cascade, references: [], conditions: ~}\n"));
  ASSERT_TRUE(file.entities.has_value());
  ASSERT_EQ(file.entities->size(), 2u);
  EXPECT_EQ((*file.entities)[0].required_adapters, std::vector<std::string>{"dns"});
  EXPECT_EQ((*file.entities)[1].on_parent_delete, projections::OnParentDelete::kCascade);
  EXPECT_TRUE((*file.entities)[1].references.empty());
  EXPECT_OK(ParseConfigFile(""));
  EXPECT_OK(ParseConfigFile("server:\nlogging: {masking: {headers: [A]}}\n"));
  EXPECT_THAT(ParseConfigFile("server:\n  port: [1]\n"),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("line 2")));
}

TEST(ConfigFileTest, ReferencesAndConditionsAreRead) {
  ASSERT_OK_AND_ASSIGN(const ConfigFile file,
                       ParseConfigFile("entities:\n"
                                       "- kind: Zone\n"
                                       "  plural: zones\n"
                                       "  references:\n"
                                       "  - {ref_type: net, target_kind: Net, min: 1, max: 2}\n"
                                       "  conditions:\n"
                                       "  - type: QuotaValid\n"
                                       "    when: {expression: a}\n"
                                       "    output:\n"
                                       "      status: {expression: b}\n"
                                       "      reason: {expression: c}\n"
                                       "      message: {expression: d}\n"));
  const projections::EntityDescriptor& zone = file.entities->front();
  ASSERT_EQ(zone.references.size(), 1u);
  EXPECT_EQ(zone.references[0].ref_type, "net");
  EXPECT_EQ(zone.references[0].target_kind, "Net");
  EXPECT_EQ(zone.references[0].min, 1);
  EXPECT_EQ(zone.references[0].max, 2);
  ASSERT_EQ(zone.conditions.size(), 1u);
  EXPECT_EQ(zone.conditions[0].type, "QuotaValid");
  EXPECT_EQ(zone.conditions[0].when_expression, "a");
  EXPECT_EQ(zone.conditions[0].status_expression, "b");
  EXPECT_EQ(zone.conditions[0].reason_expression, "c");
  EXPECT_EQ(zone.conditions[0].message_expression, "d");
}

// Case 96.
TEST_F(SettingsTest, AMissingSchemaThatIsRequiredRefusesToStart) {
  const std::string entities =
      "entities:\n- {kind: A, plural: as, spec_schema_name: ASpec, require_spec_schema: true}\n";
  EXPECT_THAT(Serve({}, {}, kOpen + entities),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("the schema ASpec")));
  const std::string head = "openapi: 3.0.3\ninfo: {title: T, version: '1'}\npaths: {}\n";
  const std::string schemas = "components: {schemas: {ASpec: {required: [a]}}}\n";
  EXPECT_THAT(
      Serve({{"server-openapi-schema-path", Write("none.yaml", head)}}, {}, kOpen + entities),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("the schema ASpec")));
  ASSERT_OK_AND_ASSIGN(const ServeConfig config,
                       Serve({{"server-openapi-schema-path", Write("some.yaml", head + schemas)}},
                             {}, kOpen + entities));
  EXPECT_EQ(config.server.spec_schemas.Check("A", JsonObject()).size(), 1u);
}

TEST_F(SettingsTest, TheDocumentOfSchemasIsReadWhereItIsNamed) {
  EXPECT_THAT(Serve({{"server-openapi-schema-path", "/nowhere/openapi.yaml"}}, {}),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("/nowhere/openapi.yaml")));
  EXPECT_THAT(Serve({}, {{"HYPERFLEET_SERVER_OPENAPI_SCHEMA_PATH", Write("bad.yaml", "a: 1")}}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("not an OpenAPI")));
  // The stock kinds require schemas of a document; without one any object will do.
  ASSERT_OK_AND_ASSIGN(const ServeConfig config, Serve({}, {}));
  EXPECT_EQ(config.server.spec_schemas.NameFor("Cluster"), nullptr);
  EXPECT_THAT(config.server.spec_schemas.missing(), IsEmpty());
  // Of kinds that somebody wrote down it is told.
  ASSERT_OK_AND_ASSIGN(
      const ServeConfig written,
      Serve({}, {},
            std::string(kOpen) + "entities:\n- {kind: A, plural: as, spec_schema_name: ASpec}\n"));
  EXPECT_THAT(written.server.spec_schemas.missing(), ElementsAre("ASpec"));
}

TEST_F(SettingsTest, ABadRegistryRefusesToStart) {
  EXPECT_THAT(Serve({}, {},
                    std::string(kOpen) + "entities:\n- {kind: A, plural: as}\n"
                                         "- {kind: B, plural: as}\n"),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("entities: ")));
}

// Case 96 of the resource API.
TEST_F(SettingsTest, EveryContradictionOfKindsRefusesToStartAndNamesTheKind) {
  const std::string a = "- {kind: A, plural: as}\n";
  const std::pair<std::string, std::string> registries[] = {
      {a + "- {kind: B, plural: as}\n", "B: plural \"as\" is registered twice"},
      {a + "- {kind: A, plural: bs}\n", "A: kind is registered twice"},
      {"- {kind: B, plural: bs, parent_kind: No, on_parent_delete: cascade}\n",
       "B: parent_kind \"No\" is not registered"},
      {"- {kind: B, plural: bs, parent_kind: C, on_parent_delete: cascade}\n"
       "- {kind: C, plural: cs, parent_kind: B, on_parent_delete: cascade}\n",
       "B: its parents form a cycle"},
      {a + "- {kind: B, plural: bs, parent_kind: A}\n", "B: on_parent_delete must be"},
      {"- {kind: B, plural: resources}\n", "B: plural \"resources\" is reserved"},
      {"- {kind: B, plural: bs, references: [{ref_type: x, target_kind: No}]}\n",
       "B: reference \"x\": target_kind \"No\" is not registered"},
      {a + "- {kind: B, plural: bs, references: [{ref_type: x, target_kind: A},"
           " {ref_type: x, target_kind: A}]}\n",
       "B: reference type \"x\" is empty or named twice"},
      {a + "- {kind: B, plural: bs, references: [{ref_type: x, target_kind: A, min: 2, max: 1}]}\n",
       "B: reference \"x\": max 1 and min 2 contradict"},
      {"- {kind: A, plural: as, references: [{ref_type: x, target_kind: B, min: 1}]}\n"
       "- {kind: B, plural: bs, references: [{ref_type: x, target_kind: A, min: 1}]}\n",
       "A: its required references form a cycle"},
      {"- {kind: B, plural: bs, name_min_len: 5, name_max_len: 4}\n", "B: name_max_len 4"},
      {"- kind: B\n  plural: bs\n  required_adapters: [dns]\n  conditions:\n"
       "  - {type: DnsSuccessful, when: {expression: x}, output: {status: {expression: x}}}\n",
       "B: condition type \"DnsSuccessful\" is reserved"},
      {"- kind: B\n  plural: bs\n  conditions:\n  - {type: Bad-Type}\n",
       "B: condition type \"Bad-Type\" must be"},
  };
  for (const auto& [entities, why] : registries) {
    EXPECT_THAT(Serve({}, {}, std::string(kOpen) + "entities:\n" + entities),
                StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("entities: " + why)))
        << entities;
  }
}

TEST(DurationTest, GoesForms) {
  EXPECT_EQ(ParseDuration("5m"), std::chrono::minutes(5));
  EXPECT_EQ(ParseDuration("1h30m"), std::chrono::minutes(90));
  EXPECT_EQ(ParseDuration("250ms"), std::chrono::milliseconds(250));
  EXPECT_EQ(ParseDuration("1.5s"), std::chrono::milliseconds(1500));
  for (const std::string text : {"", "5", "m", "-5m", "0s", "5 m", "5x", "1e3s", "5mm"}) {
    EXPECT_EQ(ParseDuration(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace api
