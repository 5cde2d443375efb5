// A server that starts with other conditions in its configuration than the one before.

#include "api/resources/settling.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "api/resources/routes.h"
#include "tests/api/dispatch/hooked_engine.h"
#include "tests/api/dispatch/operators.h"
#include "tests/support/poll.h"

namespace api {
namespace {

using dispatch_test::MakeRequest;
using dispatch_test::Slot;
using testing::HasSubstr;

constexpr char kClusters[] = "/api/hyperfleet/v1/clusters";
constexpr char kReconciled[] = "?search=status.conditions.Reconciled%3D'True'";

projections::Registry Requiring(std::vector<std::string> adapters) {
  projections::EntityDescriptor cluster;
  cluster.kind = "Cluster";
  cluster.plural = "clusters";
  cluster.required_adapters = std::move(adapters);
  return *projections::Registry::Create({cluster});
}

// One life of a server on an engine.
class Life {
 public:
  Life(engine::Engine& engine, std::vector<std::string> adapters)
      : registry_(Requiring(std::move(adapters))) {
    router_.AddFamily(HyperfleetFamily());
    auto store =
        Store::Open(engine, projections::MainProjections(), projections::AuditProjections(), {});
    EXPECT_OK(store);
    store_ = *std::move(store);
    dispatcher_.emplace(router_, *store_, workers_, operators_.admission(),
                        [](const std::function<void()>& task) { task(); });
    AddResourceRoutes(*dispatcher_, registry_, schemas_, reconciliations_);
  }
  // Begins to settle, and waits until it is done. How many were written.
  std::uint64_t Settle() {
    settling_ = std::make_unique<Settling>(*store_, registry_, reconciliations_,
                                           std::chrono::milliseconds(1));
    EXPECT_TRUE(support::WaitFor([this] { return settling_->done(); },
                                 engine::Deadline::After(std::chrono::seconds(30))));
    return settling_->settled();
  }

  Response Ask(const std::string& method, const std::string& target, const std::string& body = "") {
    Slot slot;
    router_.Dispatch(MakeRequest(method, target, {}, body), slot.MakeResponder());
    return slot.Wait();
  }

 private:
  const projections::Registry registry_;
  Router router_;
  dispatch_test::Operators operators_;
  SpecSchemas schemas_;
  Reconciliations reconciliations_;
  std::unique_ptr<Store> store_;
  Workers workers_{2, 16};
  std::optional<Dispatcher> dispatcher_;
  std::unique_ptr<Settling> settling_;
};

constexpr char kReport[] =
    R"({"adapter":"dns","observed_generation":1,"conditions":[)"
    R"({"type":"Available","status":"True"},{"type":"Applied","status":"True"},)"
    R"({"type":"Health","status":"True"}]})";

// More than are on their way at once, all of them reconciled.
void Fill(Life& life) {
  for (int i = 0; i < 70; ++i) {
    const Response made = life.Ask(
        "POST", kClusters, R"({"kind":"Cluster","spec":{},"name":"c)" + std::to_string(i) + "\"}");
    ASSERT_EQ(made.status, 201) << made.body;
    const std::string id = made.body.substr(7, 36);
    ASSERT_EQ(life.Ask("PUT", std::string(kClusters) + "/" + id + "/statuses", kReport).status,
              201);
  }
}

TEST(SettlingTest, WhatIsShownSearchedAndCountedFollowsTheConfiguration) {
  dispatch_test::HookedEngine engine;
  {
    Life life(engine, {"dns"});
    EXPECT_EQ(life.Settle(), 0U);
    Fill(life);
    EXPECT_THAT(life.Ask("GET", std::string(kClusters) + kReconciled).body,
                HasSubstr("\"total\":70"));
  }
  {
    Life same(engine, {"dns"});
    EXPECT_EQ(same.Settle(), 0U);
  }
  Life more(engine, {"dns", "validation"});
  EXPECT_EQ(more.Settle(), 70U);
  EXPECT_THAT(more.Ask("GET", std::string(kClusters) + kReconciled).body, HasSubstr("\"total\":0"));
  EXPECT_THAT(more.Ask("GET", kClusters).body,
              HasSubstr("Waiting for adapters to report: validation"));
}

TEST(SettlingTest, TriesAgainWhatTheStoreRefused) {
  dispatch_test::HookedEngine engine;
  {
    Life life(engine, {"dns"});
    life.Settle();
    Fill(life);
  }
  Life more(engine, {"validation"});
  std::atomic<int> begun = 0;
  engine.SetBeforeBegin([&begun] {
    return ++begun < 3 ? absl::UnavailableError("the store is away") : absl::OkStatus();
  });
  EXPECT_EQ(more.Settle(), 70U);
  EXPECT_GE(begun, 3);
}

}  // namespace
}  // namespace api
