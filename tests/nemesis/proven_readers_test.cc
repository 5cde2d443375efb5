// A thousand readers of the kill list, who must not be told what was true before a kill that they
// could have heard of, however late the database's answers are.

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/nemesis/crowd.h"
#include "tests/nemesis/replicas.h"
#include "tests/support/fault_proxy.h"
#include "tests/support/poll.h"
#include "tests/support/status_matchers.h"

namespace nemesis {
namespace {

using support::FaultProxy;
using support::PostgresCluster;
using support::TestStore;

constexpr char kKillList[] = "/api/v1/killswitch";
constexpr char kFlights[] = "halo_flights_total{lane=\"main\"}";
constexpr int kReaders = 1000;

engine::Deadline Patience() {
  return engine::Deadline::After(std::chrono::minutes(2));
}

// The first server reaches the database through a proxy that holds its answers back.
class LateFlightTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(store_, TestStore::OnPostgres());
    const PostgresCluster& cluster = support::SharedCluster();
    ASSERT_OK_AND_ASSIGN(proxy_, FaultProxy::Start(cluster.socket_directory(), cluster.port()));
    auto direct = Replicas::Start(*store_, 1);
    ASSERT_OK(direct);
    direct_ = std::make_unique<Replicas>(*std::move(direct));
    std::ofstream(store_->flags()[1]) << proxy_->Through(store_->url());
    auto late = Replicas::Start(*store_, 1);
    ASSERT_OK(late);
    late_ = std::make_unique<Replicas>(*std::move(late));
  }
  bool Parks(int requests) {
    return support::WaitFor([&] { return late_->Metric(0, "halo_http_parked") >= requests; },
                            engine::Deadline::After(std::chrono::seconds(3)));
  }

  std::unique_ptr<TestStore> store_;
  std::unique_ptr<FaultProxy> proxy_;
  std::unique_ptr<Replicas> direct_;
  std::unique_ptr<Replicas> late_;
};

TEST_F(LateFlightTest, NobodyIsToldByAFlightThatWasSentBeforeTheKill) {
  ASSERT_TRUE(direct_->Kill(0, "before"));
  ASSERT_OK_AND_ASSIGN(const Names before, late_->Killed(0));
  ASSERT_TRUE(before.contains("before"));
  proxy_->Hold(FaultProxy::Direction::kToClient);
  // Its query is sent and answered, and the answer is on its way.
  Crowd early(late_->url(0), kKillList, support::HaloServer::Admin(), 1);
  ASSERT_TRUE(early.SendAll(Patience()));
  ASSERT_TRUE(Parks(1));
  ASSERT_TRUE(direct_->Kill(0, "revoked"));
  Crowd crowd(late_->url(0), kKillList, support::HaloServer::Admin(), kReaders);
  ASSERT_TRUE(crowd.SendAll(Patience()));
  // All of them wait now; on a busy machine the first may have been told that it takes too long.
  Parks(kReaders);
  const double flights = late_->Metric(0, kFlights);
  proxy_->Release();
  ToldOf("revoked", crowd.Wait(Patience()));
  // One for all of them, beside those of the server's own.
  EXPECT_LT(late_->Metric(0, kFlights) - flights, kReaders / 10);
  ASSERT_TRUE(late_->WaitUntilReady());
  Crowd later(late_->url(0), kKillList, support::HaloServer::Admin(), kReaders);
  EXPECT_GT(ToldOf("revoked", later.Wait(Patience())), kReaders / 2);
}

}  // namespace
}  // namespace nemesis
