#include "api/main/tracing_config.h"

#include <gmock/gmock.h>

#include "tests/api/main/settings_fixture.h"

namespace api {
namespace {

using support::StatusIs;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

constexpr char kEndpoint[] = "OTEL_EXPORTER_OTLP_ENDPOINT";
constexpr char kCollector[] = "http://collector:4318";

class TracingConfigTest : public SettingsTest {
 protected:
  TracingConfig Read(Environment environment, const std::string& yaml = "") {
    const auto config = Serve({}, std::move(environment), yaml);
    EXPECT_OK(config);
    without_effect_ = config.ok() ? config->without_effect : std::vector<std::string>();
    return config.ok() ? config->tracing : TracingConfig();
  }
  // Of a server with a collector and these variables.
  TracingConfig With(Environment environment, const std::string& yaml = "") {
    environment.emplace(kEndpoint, kCollector);
    return Read(std::move(environment), yaml);
  }

  std::vector<std::string> without_effect_;
};

TEST_F(TracingConfigTest, ItIsOffUntilSomebodySaysWhereTo) {
  EXPECT_EQ(Read({}).collector.url, "");
  EXPECT_EQ(Read({}, kOpen + std::string("tracing: {enabled: true}\n")).collector.url, "");
  EXPECT_THAT(without_effect_, Contains(HasSubstr("tracing.enabled")));
  EXPECT_EQ(Read({}, kOpen + std::string("tracing: {enabled: false}\n")).collector.url, "");
}

TEST_F(TracingConfigTest, TheEndpointIsTheCollectorsOrOneOfTraces) {
  const TracingConfig config = With({});
  EXPECT_EQ(config.collector.url, "http://collector:4318/v1/traces");
  EXPECT_THAT(config.warnings, IsEmpty());
  EXPECT_EQ(Read({{kEndpoint, "https://collector/otel/"}}).collector.url,
            "https://collector/otel/v1/traces");
  EXPECT_EQ(With({{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://[::1]:9/t"}}).collector.url,
            "http://[::1]:9/t");
  for (const char* const wrong : {"collector:4317", "grpc://collector", "http://", "http://:4318",
                                  "http://user:secret@collector", "http://a b"}) {
    const TracingConfig bad = Read({{kEndpoint, wrong}});
    EXPECT_EQ(bad.collector.url, "") << wrong;
    EXPECT_THAT(bad.warnings, ElementsAre(HasSubstr(kEndpoint))) << wrong;
    EXPECT_THAT(bad.warnings, Not(Contains(HasSubstr("secret"))));
  }
}

TEST_F(TracingConfigTest, ItCanBeTurnedOff) {
  EXPECT_EQ(With({{"HYPERFLEET_TRACING_ENABLED", "false"}}).collector.url, "");
  EXPECT_EQ(With({}, kOpen + std::string("tracing: {enabled: false}\n")).collector.url, "");
  EXPECT_EQ(With({}, kOpen + std::string("logging: {otel: {enabled: false}}\n")).collector.url, "");
  EXPECT_NE(With({}, kOpen + std::string("logging: {otel: {enabled: false}}\n"
                                         "tracing: {enabled: true}\n"))
                .collector.url,
            "")
      << "the new name wins";
  EXPECT_EQ(With({{"OTEL_SDK_DISABLED", "true"}}).collector.url, "");
  EXPECT_EQ(With({{"OTEL_TRACES_EXPORTER", "none"}}).collector.url, "");
  EXPECT_THAT(Serve({}, {{"HYPERFLEET_TRACING_ENABLED", "maybe"}}),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("TRACING_ENABLED")));
}

TEST_F(TracingConfigTest, OnlyOneWayIsKnown) {
  for (const char* const fits : {"http/json", "http/protobuf"}) {
    const TracingConfig config = With({{"OTEL_EXPORTER_OTLP_PROTOCOL", fits}});
    EXPECT_NE(config.collector.url, "") << fits;
    EXPECT_THAT(config.warnings, IsEmpty()) << fits;
  }
  for (const auto& [name, value] :
       std::map<std::string, std::string>{{"OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"},
                                          {"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "grpc"},
                                          {"OTEL_TRACES_EXPORTER", "console"}}) {
    const TracingConfig config = With({{name, value}});
    EXPECT_EQ(config.collector.url, "") << name;
    EXPECT_THAT(config.warnings, ElementsAre(HasSubstr("no traces are exported"))) << name;
  }
}

TEST_F(TracingConfigTest, TheServiceHasItsName) {
  const auto name_of = [](const TracingConfig& config) {
    return std::get<std::string>(config.tracer.resource.front().second);
  };
  const std::string yaml = kOpen + std::string("tracing: {service_name: of-file}\n");
  EXPECT_EQ(name_of(With({})), "hyperfleet-api");
  EXPECT_EQ(name_of(With({}, yaml)), "of-file");
  const TracingConfig config =
      With({{"OTEL_SERVICE_NAME", "own"},
            {"OTEL_RESOURCE_ATTRIBUTES", "service.name=other, k8s.pod.name=halo%2D0"}},
           yaml);
  EXPECT_EQ(name_of(config), "own");
  EXPECT_THAT(config.tracer.resource,
              Contains(Pair("k8s.pod.name", testing::VariantWith<std::string>("halo-0"))));
}

TEST_F(TracingConfigTest, NumbersAndHeadersAreFollowed) {
  const TracingConfig config = With({{"OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20t,a=b"},
                                     {"OTEL_EXPORTER_OTLP_CERTIFICATE", "/ca.pem"},
                                     {"OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "250"},
                                     {"OTEL_BSP_MAX_QUEUE_SIZE", "100"},
                                     {"OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "400"},
                                     {"OTEL_BSP_SCHEDULE_DELAY", "20"},
                                     {"OTEL_TRACES_SAMPLER", "always_off"}});
  EXPECT_THAT(config.warnings, IsEmpty());
  EXPECT_THAT(config.collector.headers,
              ElementsAre(Pair("authorization", "Bearer t"), Pair("a", "b")));
  EXPECT_EQ(config.collector.ca_file, "/ca.pem");
  EXPECT_EQ(config.collector.timeout, std::chrono::milliseconds(250));
  EXPECT_EQ(config.tracer.max_queue, 100U);
  EXPECT_EQ(config.tracer.max_batch, 100U) << "no larger than the queue";
  EXPECT_EQ(config.tracer.delay, std::chrono::milliseconds(20));
  EXPECT_FALSE(config.tracer.sampler.Keeps(std::string(32, '0'), std::nullopt));
}

TEST_F(TracingConfigTest, WhatCannotBeFollowedIsSaid) {
  const TracingConfig config = With({{"OTEL_EXPORTER_OTLP_HEADERS", "a=b,c,d=%0a"},
                                     {"OTEL_EXPORTER_OTLP_TIMEOUT", "soon"},
                                     {"OTEL_BSP_MAX_QUEUE_SIZE", "0"},
                                     {"OTEL_TRACES_SAMPLER_ARG", "2"}});
  EXPECT_THAT(config.collector.headers, ElementsAre(Pair("a", "b")));
  EXPECT_EQ(config.collector.timeout, std::chrono::seconds(10));
  EXPECT_EQ(config.tracer.max_queue, 2048U);
  EXPECT_TRUE(config.tracer.sampler.Keeps(std::string(32, 'f'), std::nullopt));
  EXPECT_EQ(config.warnings.size(), 5U);
  EXPECT_NE(config.collector.url, "") << "and the traces go out";
}

TEST_F(TracingConfigTest, ATracerStartsOnlyWhereThereIsACollector) {
  EXPECT_EQ(StartTracer(Read({})), nullptr);
  EXPECT_NE(StartTracer(With({})), nullptr);
}

}  // namespace
}  // namespace api
