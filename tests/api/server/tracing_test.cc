// What a server hands to its tracer.

#include "api/server/tracing.h"

#include <gmock/gmock.h>

#include "api/server/server.h"
#include "engine/memory/memory.h"
#include "schemas/streams.h"
#include "tests/support/collector.h"
#include "tests/support/http_client.h"
#include "tests/support/logs.h"
#include "tests/support/status_matchers.h"

namespace api {
namespace {

using support::CollectedSpan;
using support::HttpClient;
using support::HttpHeaders;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr char kClusters[] = "/api/hyperfleet/v1/clusters";
constexpr char kTrace[] = "0af7651916cd43dd8448eb211c80319c";
constexpr char kCaller[] = "b7ad6b7169203331";

std::string TraceParent(const std::string& flags) {
  return std::string("00-") + kTrace + "-" + kCaller + "-" + flags;
}

class ServerTracingTest : public testing::Test {
 protected:
  void SetUp() override {
    TracerOptions tracing;
    tracing.delay = std::chrono::hours(1);
    tracer_ = std::make_shared<Tracer>(
        tracing, [this](const std::string& json, const std::atomic<bool>&) -> Posted {
          sent_ = json;
          return {Posted::Outcome::kTaken, 0, {}, ""};
        });
    ServerOptions options;
    options.listen = "127.0.0.1:0";
    options.drain_grace = std::chrono::milliseconds(1);
    options.tracer = tracer_;
    ASSERT_OK_AND_ASSIGN(server_, Server::Start(*engine_, std::move(options)));
  }

  support::HttpResponse Ask(const std::string& method, const std::string& path,
                            const HttpHeaders& headers = {}, const std::string& body = "") {
    const auto answer =
        HttpClient("http://" + server_->address())
            .Call({.method = method, .path = path, .body = body, .headers = headers});
    EXPECT_OK(answer);
    return answer.value_or(support::HttpResponse{});
  }

  // All that the requests so far left.
  std::vector<CollectedSpan> Spans() {
    // What is observed after an answer went out is done before the server has drained.
    server_->Drain(engine::Deadline::After(std::chrono::minutes(1)));
    EXPECT_TRUE(tracer_->Flush(engine::Deadline::After(std::chrono::minutes(1))));
    return sent_.empty() ? std::vector<CollectedSpan>() : support::SpansOf(sent_);
  }

  const std::unique_ptr<engine::Engine> engine_ = engine::memory::Open(schemas::Streams());
  std::string sent_;
  std::shared_ptr<Tracer> tracer_;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerTracingTest, ARequestIsASpanOfItsCallersTrace) {
  const auto made = Ask("POST", kClusters, {}, R"({"kind":"Cluster","name":"prod","spec":{}})");
  const std::string id = made.body.substr(made.body.find("\"id\":\"") + 6, 36);
  Ask("GET", std::string(kClusters) + "/" + id + "?fields=id",
      {{"traceparent", TraceParent("01")},
       {"tracestate", "vendor=1"},
       {"User-Agent", "sentinel/1"},
       {"X-Request-ID", "r-1"}});
  const std::vector<CollectedSpan> spans = Spans();
  ASSERT_THAT(spans, SizeIs(2));
  EXPECT_EQ(spans[0].Text("name"), std::string("POST ") + kClusters);
  EXPECT_EQ(spans[0].Text("parentSpanId"), "");
  EXPECT_EQ(spans[0].Attribute("http.response.status_code"), "201");
  const CollectedSpan& get = spans[1];
  EXPECT_EQ(get.Text("name"), std::string("GET ") + kClusters + "/{id}");
  EXPECT_EQ(get.Text("traceId"), kTrace);
  EXPECT_EQ(get.Text("parentSpanId"), kCaller);
  EXPECT_EQ(get.Text("traceState"), "vendor=1");
  EXPECT_EQ(get.Text("kind"), "2");
  const std::map<std::string, std::string> attributes = {
      {"http.request.method", "GET"},
      {"http.route", std::string(kClusters) + "/{id}"},
      {"http.response.status_code", "200"},
      {"url.path", std::string(kClusters) + "/" + id},
      {"url.scheme", "http"},
      {"client.address", "127.0.0.1"},
      {"user_agent.original", "sentinel/1"},
      {"hyperfleet.request_id", "r-1"},
      {"hyperfleet.resource_type", "clusters"},
      {"hyperfleet.resource_id", id}};
  EXPECT_EQ(get.attributes.size(), attributes.size());
  for (const auto& [name, value] : attributes) {
    EXPECT_EQ(get.Attribute(name), value) << name;
  }
  const std::int64_t start = std::stoll(get.Text("startTimeUnixNano"));
  const std::int64_t end = std::stoll(get.Text("endTimeUnixNano"));
  EXPECT_LE(start, end);
  EXPECT_LE(std::stoll(spans[0].Text("startTimeUnixNano")), end);
  EXPECT_LE(end, engine::SystemClock().Now().micros * 1000 + 1000);
}

TEST_F(ServerTracingTest, WhatTheCallerDoesNotKeepAndProbesAreLeftOut) {
  Ask("GET", kClusters, {{"traceparent", TraceParent("00")}});
  Ask("GET", "/healthz");
  Ask("GET", "/readyz", {{"traceparent", TraceParent("01")}});
  Ask("GET", "/metrics");
  EXPECT_THAT(Spans(), SizeIs(0));
}

TEST_F(ServerTracingTest, NamesOfSpansAreFew) {
  Ask("GET", "/nothing/here?password=hunter2");
  support::ExpectErrorLogs();
  Ask("BREW", kClusters);
  const std::vector<CollectedSpan> spans = Spans();
  ASSERT_THAT(spans, SizeIs(2));
  EXPECT_EQ(spans[0].Text("name"), "GET");
  EXPECT_EQ(spans[0].Attribute("http.response.status_code"), "404");
  EXPECT_EQ(spans[0].Attribute("error.type"), "") << "the caller's";
  EXPECT_EQ(spans[1].Text("name"), "HTTP");
  EXPECT_EQ(spans[1].Attribute("http.request.method"), "_OTHER");
  EXPECT_EQ(spans[1].Attribute("error.type"), "501");
  EXPECT_THAT(sent_, HasSubstr(R"("status":{"code":2})"));
  EXPECT_THAT(sent_, Not(HasSubstr("hunter2")));
}

TEST_F(ServerTracingTest, MetricsCountThem) {
  Ask("GET", kClusters);
  const std::string text = Ask("GET", "/metrics").body;
  for (const char* const line : {"halo_trace_spans_exported_total 0",
                                 R"(halo_trace_spans_dropped_total{reason="not_taken"} 0)",
                                 R"(halo_trace_spans_dropped_total{reason="queue_full"} 0)",
                                 "halo_trace_export_failures_total 0"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
}

}  // namespace
}  // namespace api
