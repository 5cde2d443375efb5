#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/server/access_log.h"
#include "api/server/async_log.h"
#include "api/server/metrics.h"
#include "engine/base/logging.h"
#include "engine/memory/memory.h"
#include "tests/api/dispatch/hooked_engine.h"
#include "tests/support/poll.h"
#include "tests/support/row_builder.h"

namespace api {
namespace {

using dispatch_test::MakeRequest;
using testing::HasSubstr;
using testing::Not;

TEST(AccessLogTest, ALineHasWhatHappenedAndNoSecrets) {
  const auto request = MakeRequest(
      "POST", "/api/v1/x?token=secret1",
      {{"Authorization", "Bearer secret2"}, {"Cookie", "secret3"}, {"User-Agent", "curl/8"}});
  AccessLog({}).Answered(*request, 201, 0.0125);
  const std::vector<std::string> lines = support::LogLines();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr(R"("level":"info")"));
  EXPECT_THAT(lines[0], HasSubstr(R"("method":"POST")"));
  EXPECT_THAT(lines[0], HasSubstr(R"("path":"/api/v1/x")"));
  EXPECT_THAT(lines[0], HasSubstr(R"("status_code":201)"));
  EXPECT_THAT(lines[0], HasSubstr(R"("duration_ms":12.5)"));
  EXPECT_THAT(lines[0], HasSubstr(R"("user_agent":"curl/8")"));
  EXPECT_THAT(lines[0], Not(HasSubstr("secret")));
}

TEST(AccessLogTest, TheFirstLineHasTheHeadersAndMasksCredentials) {
  const auto request =
      MakeRequest("POST", "/api/v1/x?token=secret1",
                  {{"authorization", "Bearer secret2"}, {"COOKIE", "secret3"}, {"X-Kind", "seen"}});
  AccessLog({}).Arrived(*request);
  ASSERT_EQ(support::LogLines().size(), 1u);
  EXPECT_THAT(support::LogLines()[0], HasSubstr(R"("message":"arrived")"));
  EXPECT_THAT(support::LogLines()[0],
              HasSubstr(R"("headers":"authorization: ***REDACTED***, COOKIE: ***REDACTED***, )"
                        R"(X-Kind: seen, Host: halo.example")"));
  EXPECT_THAT(support::LogLines()[0], Not(HasSubstr("secret")));
  AccessLog({}).Arrived(*MakeRequest("GET", "/x", {{"X-Issuer-2", "bearer secret4"}}));
  EXPECT_THAT(support::LogLines()[1], HasSubstr("X-Issuer-2: ***REDACTED***"));
  AccessLog({.is_masked = true, .masked_headers = {"x-kind"}}).Arrived(*request);
  EXPECT_THAT(support::LogLines()[2], HasSubstr("X-Kind: ***REDACTED***"));
  AccessLog({.is_masked = false}).Arrived(*request);
  EXPECT_THAT(support::LogLines()[3], HasSubstr("COOKIE: secret3"));
  AccessLog({}).Arrived(*MakeRequest("GET", "/readyz"));
  EXPECT_EQ(support::LogLines().size(), 4u);
}

TEST(AccessLogTest, TheCallersTraceIsNamed) {
  const auto request = MakeRequest(
      "GET", "/x", {{"traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"}});
  AccessLog({}).Answered(*request, 200, 0);
  EXPECT_THAT(support::LogLines()[0], HasSubstr(R"("trace_id":"0af7651916cd43dd8448eb211c80319c",)"
                                                R"("span_id":"b7ad6b7169203331")"));
}

TEST(AccessLogTest, SeveritiesFollowTheStatus) {
  support::ExpectErrorLogs();
  const auto level = [](const std::string& path, int status) {
    const std::size_t before = support::LogLines().size();
    AccessLog({}).Answered(*MakeRequest("GET", path), status, 0);
    const std::vector<std::string> lines = support::LogLines();
    return lines.size() == before ? std::string() : lines.back();
  };
  EXPECT_THAT(level("/x", 404), HasSubstr(R"("level":"info")"));
  EXPECT_THAT(level("/x", 401), HasSubstr(R"("level":"warn")"));
  EXPECT_THAT(level("/x", 503), HasSubstr(R"("level":"error")"));
  EXPECT_EQ(level("/healthz", 200), "");
  EXPECT_EQ(level("/readyz", 503), "");
}

// In a child process: the streams of this one belong to the test's own log check.
TEST(AsyncLogTest, EverythingIsWrittenByTheEnd) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    {
      AsyncLog log;
      for (int i = 0; i < 1000; ++i) {
        engine::Log(engine::Severity::kInfo, "line", {{"number", i}});
      }
    }
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  ssize_t got = 0;
  while ((got = read(ends[0], buffer, sizeof(buffer))) > 0) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1000);
  EXPECT_THAT(text, HasSubstr(R"("number":999)"));
}

TEST(MetricsTest, SamplesOfOneNameStandTogether) {
  Metrics metrics;
  metrics.AddSource([](Samples& samples) {
    samples.push_back({"halo_x_total", "X.", MetricType::kCounter, 1, {{"a", "1"}}});
    samples.push_back({"halo_x_total", "X.", MetricType::kCounter, 2, {{"a", "2"}}});
    samples.push_back({"halo_y", "Y.", MetricType::kGauge, 3, {}});
  });
  EXPECT_THAT(metrics.Text(), HasSubstr("# HELP halo_x_total X.\n"
                                        "# TYPE halo_x_total counter\n"
                                        "halo_x_total{a=\"1\"} 1\n"
                                        "halo_x_total{a=\"2\"} 2\n"));
  EXPECT_THAT(metrics.Text(), HasSubstr("# TYPE halo_y gauge\nhalo_y 3\n"));
}

TEST(MetricsTest, LeasesAndTheClockAreShown) {
  const auto store = engine::memory::Open({});
  const auto wait = [](engine::Term& term) { term.WaitUntilEnded(support::Soon()); };
  engine::Elector first(store->leases(), {.lease = "compactor"}, wait);
  engine::Elector second(store->leases(), {.lease = "controller"}, wait);
  engine::ClockSkew skew;
  Metrics metrics;
  metrics.AddElector(first);
  metrics.AddElector(second);
  metrics.AddClockSkew(skew);
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("halo_clock_skew_seconds")));
  EXPECT_TRUE(support::WaitFor([&] { return first.state().leading && second.state().leading; },
                               support::Soon()));
  skew.Observe({0}, {0}, {2'500'000});
  EXPECT_THAT(metrics.Text(), HasSubstr("halo_leader{lease=\"compactor\"} 1\n"
                                        "halo_leader{lease=\"controller\"} 1\n"));
  EXPECT_THAT(metrics.Text(), HasSubstr("halo_leader_changes_total{lease=\"compactor\"} 1\n"
                                        "halo_leader_changes_total{lease=\"controller\"} 1\n"));
  EXPECT_THAT(metrics.Text(), HasSubstr("halo_clock_skew_seconds 2.5\n"));
  first.Stop();
  EXPECT_THAT(metrics.Text(), HasSubstr("halo_leader{lease=\"compactor\"} 0\n"));
}

TEST(MetricsTest, RequestsWithoutARouteAreNotCounted) {
  Metrics metrics;
  metrics.Observe(*MakeRequest("GET", "/api/hyperfleet/v1/nothing"), 404, 0.1);
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("hyperfleet_api_requests_total{")));
}

}  // namespace
}  // namespace api
