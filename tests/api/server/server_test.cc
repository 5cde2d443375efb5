#include "api/server/server.h"

#include <filesystem>
#include <fstream>
#include <latch>
#include <set>
#include <vector>

#include <gmock/gmock.h>

#include "tests/api/dispatch/hooked_engine.h"
#include "tests/support/exposition.h"
#include "tests/support/http_client.h"
#include "tests/support/logs.h"
#include "tests/support/poll.h"
#include "tests/support/row_builder.h"

namespace api {
namespace {

using dispatch_test::HookedEngine;
using dispatch_test::MakeRequest;
using dispatch_test::Slot;
using support::HttpClient;
using support::HttpResponse;
using support::StatusIs;
using testing::HasSubstr;

constexpr char kClusters[] = "/api/hyperfleet/v1/clusters";

std::size_t ThreadsOfThisProcess() {
  const std::filesystem::directory_iterator tasks("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

// Whether the last of the threads runs that a server has whatever it is asked.
bool HasAllThreads() {
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream file(task.path() / "comm");
    std::string name;
    if (std::getline(file, name) && name == "lease-keeper") {
      return true;
    }
  }
  return false;
}

class ServerTest : public testing::Test {
 protected:
  void Start(ServerOptions options = {}) {
    options.drain_grace = std::chrono::milliseconds(1);
    options.readiness.ping_interval = std::chrono::milliseconds(5);
    options.admin_tokens = *AdminTokens::Parse("ops:token");
    options.listen = "127.0.0.1:0";
    auto server = Server::Start(engine_, std::move(options));
    ASSERT_OK(server);
    server_ = *std::move(server);
  }
  HttpResponse Get(const std::string& path, const std::string& address = "") {
    HttpClient client("http://" + (address.empty() ? server_->address() : address));
    const auto response = client.Get(path);
    EXPECT_OK(response);
    return response.value_or(HttpResponse{});
  }
  bool Becomes(int status) {
    return support::WaitFor([&] { return Get("/readyz").status == status; }, support::Soon());
  }

  HookedEngine engine_;
  std::unique_ptr<Server> server_;
};

TEST_F(ServerTest, ReadinessShowsWhatPromisesRestOn) {
  ServerOptions options;
  options.backend_facts = [] {
    return std::vector<std::pair<std::string, std::string>>{{"fsync", "on"}};
  };
  Start(std::move(options));
  EXPECT_EQ(Get("/readyz").body, R"({"status":"ok","store":{"fsync":"on"}})");
}

TEST_F(ServerTest, IsHealthyAndReady) {
  Start();
  EXPECT_EQ(Get("/healthz").body, R"({"status":"ok"})");
  ASSERT_TRUE(Becomes(200));
  EXPECT_EQ(Get("/readyz").body, R"({"status":"ok"})");
}

TEST_F(ServerTest, IsHealthyButNotReadyWithoutItsStore) {
  Start();
  ASSERT_TRUE(Becomes(200));
  engine_.SetReady([] { return absl::UnavailableError("secret of the store"); });
  ASSERT_TRUE(Becomes(503));
  EXPECT_EQ(Get("/readyz").body,
            R"({"status":"not_ready","reason":"the store cannot be reached"})");
  EXPECT_EQ(Get("/healthz").status, 200);
  engine_.SetReady(nullptr);
  EXPECT_TRUE(Becomes(200));
}

TEST_F(ServerTest, OtherListenersServeTheirRoutesOnly) {
  Start({.metrics_listen = "127.0.0.1:0", .health_listen = "127.0.0.1:0"});
  EXPECT_EQ(Get("/metrics", server_->metrics_address()).status, 200);
  EXPECT_EQ(Get("/healthz", server_->health_address()).status, 200);
  EXPECT_EQ(Get("/metrics", server_->health_address()).status, 404);
  EXPECT_EQ(Get(kClusters, server_->metrics_address()).status, 404);
  for (const std::string* address : {&server_->metrics_address(), &server_->health_address()}) {
    const HttpResponse unknown = Get("/nowhere", *address);
    EXPECT_EQ(unknown.status, 404);
    EXPECT_EQ(unknown.Header("content-type"), "application/problem+json");
    EXPECT_THAT(unknown.body, HasSubstr(R"("code":"HYPERFLEET-NTF-000")"));
  }
}

TEST_F(ServerTest, ABadListenerIsNamed) {
  Start();
  EXPECT_THAT(Server::Start(engine_, {.listen = server_->address()}),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr(server_->address())));
  EXPECT_THAT(Server::Start(engine_, {.listen = "nonsense"}),
              StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("nonsense")));
}

TEST_F(ServerTest, MetricsCountWhatWasAnswered) {
  Start();
  EXPECT_EQ(Get(kClusters).status, 200);
  EXPECT_EQ(Get(std::string(kClusters) + "/x").status, 404);
  const std::string text = Get("/metrics").body;
  EXPECT_THAT(text, HasSubstr(R"(path="/api/hyperfleet/v1/clusters/-")"));
  EXPECT_THAT(text, HasSubstr("hyperfleet_api_request_duration_seconds_bucket"));
  EXPECT_THAT(text, HasSubstr("hyperfleet_api_build_info"));
  EXPECT_THAT(text, HasSubstr("halo_commit_batches_total 0"));
  EXPECT_THAT(text, HasSubstr(R"(halo_flights_total{lane="main"} 2)"));
  EXPECT_THAT(text, HasSubstr(R"(halo_journal_position{stream="audit"} 0)"));
}

std::set<std::string> NamesOf(const support::MetricLabels& labels) {
  std::set<std::string> names;
  for (const auto& [name, value] : labels) {
    names.insert(name);
  }
  return names;
}

TEST_F(ServerTest, MetricsAreOfTheTextFormatAndOfTheseNames) {
  Start();
  EXPECT_EQ(Get(kClusters).status, 200);
  EXPECT_EQ(Get(std::string(kClusters) + "/x").status, 404);
  EXPECT_EQ(Get("/api/hyperfleet/v1/nothing").status, 404);
  EXPECT_EQ(Get("/api/v1/streams").status, 401);
  ASSERT_OK_AND_ASSIGN(const auto metrics, support::Exposition::Parse(Get("/metrics").body));
  const support::MetricFamily* requests = metrics.Find("hyperfleet_api_requests_total");
  ASSERT_NE(requests, nullptr);
  EXPECT_EQ(requests->samples.size(), 2u) << "only what matched a route below the prefix";
  EXPECT_EQ(NamesOf(requests->samples.front().labels),
            (std::set<std::string>{"code", "component", "method", "path", "version"}));
  const support::MetricLabels missing = {{"component", "api"},
                                         {"method", "GET"},
                                         {"path", "/api/hyperfleet/v1/clusters/-"},
                                         {"code", "404"}};
  EXPECT_EQ(metrics.Value("hyperfleet_api_requests_total", missing), 1);
  EXPECT_EQ(metrics.Value("hyperfleet_api_request_duration_seconds_count", missing), 1);
  for (const char* bound :
       {"0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "10", "+Inf"}) {
    support::MetricLabels bucket = missing;
    bucket["le"] = bound;
    EXPECT_TRUE(metrics.Value("hyperfleet_api_request_duration_seconds_bucket", bucket)) << bound;
  }
  EXPECT_EQ(metrics.Value("hyperfleet_api_build_info", {{"component", "api"}}), 1);
  EXPECT_GT(metrics.Value("process_resident_memory_bytes").value_or(0), 0);
  EXPECT_GT(metrics.Value("process_start_time_seconds").value_or(0), 1.5e9);
  EXPECT_GT(metrics.Value("process_open_fds").value_or(0), 0);
}

TEST_F(ServerTest, MetricsShowTheLeaseAndTheStoresClock) {
  Start();
  EXPECT_TRUE(support::WaitFor(
      [this] {
        const std::string text = Get("/metrics").body;
        return text.find("halo_leader{lease=\"compaction\"} 1\n") != std::string::npos &&
               text.find("halo_clock_skew_seconds ") != std::string::npos;
      },
      support::Soon()));
}

TEST_F(ServerTest, AForceDeleteIsLoggedBeforeAndAfter) {
  Start();
  support::HttpClient client("http://" + server_->address());
  const auto made = client.Post(kClusters, R"({"kind":"Cluster","name":"gone","spec":{}})");
  ASSERT_OK(made);
  const std::string path = std::string(kClusters) + "/" + made->body.substr(7, 36);
  ASSERT_OK(client.Delete(path));
  const auto forced = client.Post(path + "/force-delete", R"({"reason":"end of life"})");
  ASSERT_OK(forced);
  EXPECT_EQ(forced->status, 204) << forced->body;
  const std::vector<std::string> lines = support::LogLines();
  EXPECT_THAT(lines, testing::Contains(testing::AllOf(HasSubstr("force-delete asked for"),
                                                      HasSubstr("end of life"),
                                                      HasSubstr("system@hyperfleet.local"))));
  EXPECT_THAT(lines, testing::Contains(testing::AllOf(HasSubstr("force-deleted"),
                                                      HasSubstr(path.substr(path.size() - 36)))));
}

TEST_F(ServerTest, AThousandParkedReadsNeedNoThreads) {
  Start();
  std::latch release(1);
  engine_.SetAfterRead([&release] {
    release.wait();
    return absl::OkStatus();
  });
  ASSERT_TRUE(support::WaitFor(HasAllThreads, support::Soon()));
  std::vector<Slot> slots(1000);
  const auto park = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      server_->router().Dispatch(MakeRequest("GET", kClusters), slots[i].MakeResponder());
    }
  };
  park(0, 10);
  const std::size_t threads = ThreadsOfThisProcess();
  park(10, 1000);
  EXPECT_EQ(ThreadsOfThisProcess(), threads);
  EXPECT_FALSE(slots.front().Answered());
  release.count_down();
  for (Slot& slot : slots) {
    EXPECT_EQ(slot.Wait().status, 200);
  }
  engine_.SetAfterRead(nullptr);
}

TEST_F(ServerTest, AThousandParkedWritesNeedNoThreads) {
  Start();
  std::latch release(1);
  engine_.SetBeforeBegin([&release] {
    release.wait();
    return absl::OkStatus();
  });
  ASSERT_TRUE(support::WaitFor(HasAllThreads, support::Soon()));
  std::vector<Slot> slots(1000);
  const auto park = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      const std::string body =
          R"({"kind":"Cluster","name":"c)" + std::to_string(1000 + i) + R"(","spec":{}})";
      server_->router().Dispatch(MakeRequest("POST", kClusters, {}, body),
                                 slots[i].MakeResponder());
    }
  };
  park(0, 10);
  const std::size_t threads = ThreadsOfThisProcess();
  park(10, 1000);
  EXPECT_EQ(ThreadsOfThisProcess(), threads);
  release.count_down();
  for (Slot& slot : slots) {
    EXPECT_EQ(slot.Wait().status, 201);
  }
  EXPECT_LE(server_->store().committer().counters().batches, 10u);
}

// Case 92.
TEST_F(ServerTest, WhatIsInFlightIsAnsweredBeforeTheEnd) {
  Start({.health_listen = "127.0.0.1:0"});
  std::latch in_flight(1);
  std::latch release(1);
  std::atomic<int> reads{0};
  engine_.SetAfterRead([&] {
    if (reads++ == 0) {
      in_flight.count_down();
    }
    release.wait();
    return absl::OkStatus();
  });
  HttpResponse late;
  engine::Thread client("client", [&] { late = Get(kClusters); });
  in_flight.wait();
  bool whole = false;
  engine::Thread drainer("drainer", [&] { whole = server_->Drain(support::Soon()); });
  ASSERT_TRUE(support::WaitFor(
      [&] {
        return Get("/readyz", server_->health_address()).body.find("shutting_down") !=
               std::string::npos;
      },
      support::Soon()));
  release.count_down();
  client.Join();
  drainer.Join();
  EXPECT_TRUE(whole);
  EXPECT_EQ(late.status, 200);
}

}  // namespace
}  // namespace api
