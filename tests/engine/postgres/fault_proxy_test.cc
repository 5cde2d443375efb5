// The bad network that tests put in front of a server.

#include "tests/support/fault_proxy.h"

#include "tests/engine/postgres/litmus.h"
#include "tests/support/poll.h"

namespace engine::postgres {
namespace {

using support::Answer;
using support::FaultProxy;
using support::Session;
using support::SharedCluster;

constexpr char kInsert[] = "insert into journal values (1)";

Deadline Soon() {
  return Deadline::After(std::chrono::seconds(20));
}

class FaultProxyTest : public Litmus {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(Litmus::SetUp());
    ASSERT_OK_AND_ASSIGN(
        proxy_, FaultProxy::Start(SharedCluster().socket_directory(), SharedCluster().port()));
    proxied_ = proxy_->Through(url_);
  }

  std::unique_ptr<FaultProxy> proxy_;
  std::string proxied_;
};

TEST_F(FaultProxyTest, PassesEverythingThrough) {
  Session session(proxied_, url_);
  ASSERT_TRUE(session.Run(kBegin).ok);
  ASSERT_TRUE(session.Run(kInsert).ok);
  EXPECT_EQ(session.Run("commit").tag, "COMMIT");
  // More than any buffer on the way holds, in both directions.
  const std::string large(3'000'000, 'x');
  EXPECT_EQ(session.Run("select '" + large + "'").Value(), large);
  EXPECT_EQ(Value(kCount), "1");
  EXPECT_EQ(proxy_->cuts(), 0);
}

TEST_F(FaultProxyTest, CutBeforeTheCommitLeavesNothing) {
  Session session(proxied_, url_);
  ASSERT_TRUE(session.Run(kBegin).ok);
  ASSERT_TRUE(session.Run(kInsert).ok);
  proxy_->CutNextCommit(FaultProxy::Cut::kBefore);
  const Answer commit = session.Run("commit");
  EXPECT_FALSE(commit.ok);
  EXPECT_EQ(commit.sqlstate, "");
  EXPECT_FALSE(session.connected());
  EXPECT_EQ(proxy_->cuts(), 1);
  ASSERT_TRUE(session.WaitUntilGone());
  EXPECT_EQ(Value(kCount), "0");
}

TEST_F(FaultProxyTest, CutAfterTheCommitLeavesTheRowAndNoAnswer) {
  Session session(proxied_, url_);
  ASSERT_TRUE(session.Run(kBegin).ok);
  ASSERT_TRUE(session.Run(kInsert).ok);
  proxy_->CutNextCommit(FaultProxy::Cut::kAfter);
  EXPECT_FALSE(session.Run("commit").ok);
  EXPECT_FALSE(session.connected());
  EXPECT_EQ(proxy_->cuts(), 1);
  ASSERT_TRUE(session.WaitUntilGone());
  EXPECT_EQ(Value(kCount), "1");
}

TEST_F(FaultProxyTest, CutHappensOnceAndOnlyAtACommit) {
  proxy_->CutNextCommit(FaultProxy::Cut::kAfter);
  Session first(proxied_);
  ASSERT_TRUE(first.Run(kBegin).ok);
  ASSERT_TRUE(first.Run(kInsert).ok);
  ASSERT_TRUE(first.Run("rollback").ok);
  EXPECT_FALSE(first.Run("begin; commit").ok);
  Session second(proxied_);
  ASSERT_TRUE(second.Run(kBegin).ok);
  EXPECT_EQ(second.Run("commit").tag, "COMMIT");
}

TEST_F(FaultProxyTest, HeldCommitReachesTheServerOnRelease) {
  Session session(proxied_, url_);
  ASSERT_TRUE(session.Run(kBegin).ok);
  ASSERT_TRUE(session.Run(kInsert).ok);
  proxy_->Hold(FaultProxy::Direction::kToServer);
  session.Send("commit");
  ASSERT_TRUE(proxy_->WaitUntilHolding(Soon()));
  EXPECT_EQ(Value(kCount), "0");
  proxy_->Release();
  EXPECT_EQ(session.Finish().tag, "COMMIT");
  EXPECT_EQ(Value(kCount), "1");
}

TEST_F(FaultProxyTest, HeldAnswerComesAfterTheRowIsThere) {
  Session session(proxied_, url_);
  ASSERT_TRUE(session.Run(kBegin).ok);
  ASSERT_TRUE(session.Run(kInsert).ok);
  proxy_->Hold(FaultProxy::Direction::kToClient);
  session.Send("commit");
  EXPECT_TRUE(support::WaitFor([&] { return Value(kCount) == "1"; }, Soon()));
  proxy_->Release();
  EXPECT_EQ(session.Finish().tag, "COMMIT");
}

TEST_F(FaultProxyTest, ServerDoesNotLearnOfAClientThatEndsBehindAHold) {
  Session session(proxied_, url_);
  HoldLockAndInsert(session);
  proxy_->Hold(FaultProxy::Direction::kBoth);
  session.Vanish();
  EXPECT_TRUE(session.BackendIsThere());
  EXPECT_EQ(Value("select pg_try_advisory_xact_lock(7)"), "f");
  proxy_->Release();
  EXPECT_TRUE(session.WaitUntilGone());
}

TEST_F(FaultProxyTest, DelayedMessageArrivesLater) {
  Session session(proxied_, url_);
  proxy_->Delay(std::chrono::hours(1));
  session.Send(kInsert);
  ASSERT_TRUE(proxy_->WaitUntilHolding(Soon()));
  EXPECT_EQ(Value(kCount), "0");
  proxy_->Delay(Duration::zero());
  EXPECT_TRUE(session.Finish().ok);
  const Duration start = SystemClock().SinceBoot();
  proxy_->Delay(std::chrono::milliseconds(30));
  EXPECT_EQ(session.Run(kCount).Value(), "1");
  EXPECT_GE(SystemClock().SinceBoot() - start, std::chrono::milliseconds(30));
}

TEST_F(FaultProxyTest, EveryConnectionIsCutAndNewOnesAreServed) {
  Session first(proxied_);
  Session second(proxied_);
  proxy_->CutAll();
  EXPECT_FALSE(first.Run(kCount).ok);
  EXPECT_FALSE(second.Run(kCount).ok);
  EXPECT_EQ(Session(proxied_).Run(kCount).Value(), "0");
}

}  // namespace
}  // namespace engine::postgres
