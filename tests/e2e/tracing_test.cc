// The server as people start it, with a collector of traces.

#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tests/e2e/fleet.h"
#include "tests/support/collector.h"
#include "tests/support/halo_server.h"
#include "tests/support/poll.h"
#include "tests/support/status_matchers.h"

namespace e2e {
namespace {

using support::CollectedSpan;
using support::Collector;
using support::HaloServer;
using support::HttpClient;
using support::TestStore;
using testing::HasSubstr;

constexpr char kTrace[] = "0af7651916cd43dd8448eb211c80319c";

engine::Deadline InTime() {
  return engine::Deadline::After(std::chrono::minutes(1));
}

class TracingE2eTest : public testing::Test {
 protected:
  void Start(std::vector<std::string> env) {
    env.push_back("OTEL_EXPORTER_OTLP_ENDPOINT=" + collector_.url());
    ASSERT_OK_AND_ASSIGN(store_, TestStore::OnFiles());
    ASSERT_OK_AND_ASSIGN(server_, HaloServer::Start(*store_, {"--log-level", "info"}, "ops",
                                                    support::Program("halo-server"), env));
  }
  int Get(const std::string& path, const support::HttpHeaders& headers = {}) {
    const auto answer = HttpClient(server_->url()).Get(path, headers);
    EXPECT_OK(answer);
    return answer.ok() ? answer->status : 0;
  }
  std::string Metrics() {
    const auto answer = HttpClient(server_->url()).Get("/metrics");
    EXPECT_OK(answer);
    return answer.ok() ? answer->body : "";
  }

  Collector collector_;
  std::unique_ptr<TestStore> store_;
  std::unique_ptr<HaloServer> server_;
};

TEST_F(TracingE2eTest, SpansReachTheCollector) {
  ASSERT_NO_FATAL_FAILURE(Start({"OTEL_BSP_SCHEDULE_DELAY=10", "OTEL_SERVICE_NAME=our-fleet",
                                 "OTEL_EXPORTER_OTLP_HEADERS=x-scope=fleet%20one"}));
  EXPECT_EQ(Get(kClusters, {{"traceparent", std::string("00-") + kTrace + "-b7ad6b7169203331-01"}}),
            200);
  ASSERT_TRUE(collector_.WaitForSpans(1, InTime()));
  const CollectedSpan span = collector_.spans().front();
  EXPECT_EQ(span.Text("name"), std::string("GET ") + kClusters);
  EXPECT_EQ(span.Text("traceId"), kTrace);
  EXPECT_EQ(span.Attribute("http.response.status_code"), "200");
  EXPECT_EQ(span.OfResource("service.name"), "our-fleet");
  EXPECT_EQ(collector_.Header("x-scope"), "fleet one");
  EXPECT_OK(server_->Stop());
}

TEST_F(TracingE2eTest, WhatIsLeftIsSentAtTheEnd) {
  ASSERT_NO_FATAL_FAILURE(Start({"OTEL_BSP_SCHEDULE_DELAY=600000"}));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(Get(kClusters), 200);
  }
  EXPECT_EQ(collector_.asked(), 0);
  EXPECT_OK(server_->Stop());
  EXPECT_EQ(collector_.spans().size(), 3U);
}

TEST_F(TracingE2eTest, ACollectorThatIsAwayHoldsNobodyUp) {
  ASSERT_NO_FATAL_FAILURE(Start({"OTEL_BSP_SCHEDULE_DELAY=1", "OTEL_BSP_MAX_QUEUE_SIZE=10"}));
  collector_.Set(503);
  for (int i = 0; i < 100; ++i) {
    ASSERT_EQ(Get(kClusters), 200);
  }
  EXPECT_TRUE(support::WaitFor([&] { return collector_.asked() > 0; }, InTime()));
  EXPECT_THAT(Metrics(), HasSubstr("halo_trace_spans_exported_total 0"));
  EXPECT_TRUE(support::WaitFor(
      [&] {
        return Metrics().find(R"(halo_trace_spans_dropped_total{reason="queue_full"} 0)") ==
               std::string::npos;
      },
      InTime()));
  EXPECT_THAT(server_->process().Stderr(), HasSubstr("spans could not be exported"));
  EXPECT_OK(server_->Stop());
}

}  // namespace
}  // namespace e2e
