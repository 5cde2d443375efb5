// Case 95 of the resource API: what `/metrics` says of resources that are not reconciled.

#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "api/json/parser.h"
#include "api/server/server.h"
#include "engine/memory/memory.h"
#include "schemas/streams.h"
#include "tests/api/dispatch/hooked_engine.h"
#include "tests/support/exposition.h"
#include "tests/support/status_matchers.h"

namespace api {
namespace {

using dispatch_test::MakeRequest;
using dispatch_test::Slot;

constexpr char kClusters[] = "/api/hyperfleet/v1/clusters";
constexpr char kPending[] = "hyperfleet_api_resource_pending_reconciliation";
constexpr char kStarted[] = "hyperfleet_api_reconciliation_started_total";

class ReconciliationMetricsTest : public testing::Test {
 protected:
  void Start(engine::Duration stuck_threshold) {
    ServerOptions options;
    options.reconciliation_stuck_threshold = stuck_threshold;
    auto server = Server::Start(*engine_, std::move(options));
    ASSERT_OK(server);
    server_ = *std::move(server);
  }
  Response Call(const std::string& method, const std::string& path, const std::string& body = "") {
    Slot slot;
    server_->router().Dispatch(MakeRequest(method, path, {}, body), slot.MakeResponder());
    return slot.Wait();
  }
  std::string MakeCluster() {
    const Response made = Call("POST", kClusters, R"({"kind":"Cluster","name":"prod","spec":{}})");
    EXPECT_EQ(made.status, 201) << made.body;
    return std::string(kClusters) + "/" +
           std::string(ParseJson(made.body).value->at("id").as_string());
  }
  std::optional<double> Value(const std::string& name, const std::string& is_delete) {
    const auto metrics = support::Exposition::Parse(Call("GET", "/metrics").body);
    EXPECT_OK(metrics);
    return metrics.ok()
               ? metrics->Value(
                     name,
                     {{"resource_type", "cluster"}, {"is_delete", is_delete}, {"component", "api"}})
               : std::nullopt;
  }

  const std::unique_ptr<engine::Engine> engine_ = engine::memory::Open(schemas::Streams());
  std::unique_ptr<Server> server_;
};

TEST_F(ReconciliationMetricsTest, PendingResourcesAreCounted) {
  Start(std::chrono::hours(1));
  EXPECT_EQ(Value(kPending, "false"), std::nullopt);
  EXPECT_EQ(Value(kStarted, "false"), std::nullopt);
  const std::string cluster = MakeCluster();
  EXPECT_EQ(Value(kPending, "false"), 1);
  EXPECT_EQ(Value(kStarted, "false"), 1);
  EXPECT_EQ(Value(std::string(kPending) + "_stuck", "false"), std::nullopt);
  EXPECT_EQ(Call("DELETE", cluster).status, 202);
  EXPECT_EQ(Value(kPending, "false"), std::nullopt);
  EXPECT_EQ(Value(kPending, "true"), 1);
  EXPECT_EQ(Value(kStarted, "true"), std::nullopt) << "it was not reconciled before";
}

TEST_F(ReconciliationMetricsTest, WhatIsPendingForTooLongIsStuck) {
  Start(engine::Duration(1));
  MakeCluster();
  EXPECT_EQ(Value(std::string(kPending) + "_stuck", "false"), 1);
  EXPECT_GT(Value(std::string(kPending) + "_stuck_duration_seconds", "false").value_or(0), 0);
}

}  // namespace
}  // namespace api
