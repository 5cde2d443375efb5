#include "engine/postgres/append_probe.h"

#include <gmock/gmock.h>

#include "engine/base/reason.h"
#include "tests/engine/postgres/fixture.h"
#include "tests/support/poll.h"
#include "tests/support/session.h"

namespace engine::postgres {
namespace {

using support::Session;
using support::StatusIs;

class ManualClock final : public Clock {
 public:
  Timestamp Now() const override { return {}; }
  Duration SinceBoot() const override { return now; }
  Duration now = std::chrono::seconds(100);
};

TEST(LockWatchTest, OnlyOneTransactionThatStaysIsStuck) {
  ManualClock clock;
  LockWatch watch(std::chrono::seconds(1), clock);
  EXPECT_OK(watch.Saw("1/7"));
  clock.now += std::chrono::seconds(1);
  EXPECT_OK(watch.Saw("1/7"));
  clock.now += std::chrono::nanoseconds(1);
  const absl::Status stuck = watch.Saw("1/7");
  EXPECT_THAT(stuck, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(ReasonOf(stuck), Reason::kLockBusy);
}

TEST(LockWatchTest, ALockThatGoesFromHandToHandIsNot) {
  ManualClock clock;
  LockWatch watch(std::chrono::seconds(1), clock);
  for (int i = 0; i < 10; ++i) {
    EXPECT_OK(watch.Saw("1/" + std::to_string(i)));
    clock.now += std::chrono::milliseconds(900);
  }
  EXPECT_OK(watch.Saw(""));
  clock.now += std::chrono::seconds(5);
  EXPECT_OK(watch.Saw("1/9")) << "it was free in between";
}

class AppendProbeTest : public PostgresTest {
 protected:
  absl::Status Ready() { return engine().CheckReady(Soon()); }
  bool BecomesReady(bool ready) {
    return support::WaitFor([&] { return Ready().ok() == ready; }, Soon(),
                            std::chrono::milliseconds(20));
  }
};

TEST_F(AppendProbeTest, ATableThatIsClosedForInsertsIsNotReadyUntilItIsOpen) {
  EXPECT_OK(Ready());
  Session other(url());
  // Whoever reads is let through: only an insert would have to wait.
  ASSERT_TRUE(other.Run("begin; lock table halo_journal in share mode").ok);
  ASSERT_TRUE(BecomesReady(false));
  EXPECT_EQ(ReasonOf(Ready()), Reason::kLockBusy);
  EXPECT_OK(journal().Tails(Soon()));
  ASSERT_TRUE(other.Run("rollback").ok);
  EXPECT_OK(Ready());
}

TEST_F(AppendProbeTest, ALockThatOneTransactionKeepsIsNotReadyUntilItIsFree) {
  EXPECT_OK(Ready());
  Session other(url());
  ASSERT_TRUE(other.Run("begin").ok);
  ASSERT_TRUE(other.Run(Statements("public").lock.sql).ok);
  ASSERT_TRUE(BecomesReady(false));
  EXPECT_EQ(ReasonOf(Ready()), Reason::kLockBusy);
  ASSERT_TRUE(other.Run("rollback").ok);
  EXPECT_OK(Ready());
}

// A commit that waits for a standby keeps the lock; the lock is not what ails the store then.
TEST(AppendProbeOfAStandbyTest, ACommitThatWaitsForAStandbyIsTold) {
  ASSERT_OK_AND_ASSIGN(const auto cluster, support::PostgresCluster::Start());
  ASSERT_OK_AND_ASSIGN(const std::string url, cluster->CreateDatabase("halo"));
  ASSERT_OK(Migrate(OptionsFor(url)));
  ASSERT_OK_AND_ASSIGN(const auto store, Open(conformance::Streams(), OptionsFor(url)));
  ASSERT_OK(cluster->Set("synchronous_standby_names", "ghost"));
  cluster->Reload();
  Session other(url);
  ASSERT_TRUE(support::WaitFor(
      [&] { return other.Run("show synchronous_standby_names").Value() == "ghost"; }, Soon()));
  ASSERT_TRUE(other.Run("begin; create table forever (a int)").ok);
  ASSERT_TRUE(other.Run(Statements("public").lock.sql).ok);
  other.Send("commit");
  ASSERT_TRUE(support::WaitFor([&] { return !store->CheckReady(Soon()).ok(); }, Soon()));
  EXPECT_EQ(ReasonOf(store->CheckReady(Soon())), Reason::kStandbyAway);
  ASSERT_OK(cluster->Set("synchronous_standby_names", ""));
  cluster->Reload();
  EXPECT_TRUE(other.Finish().ok);
  EXPECT_TRUE(support::WaitFor([&] { return store->CheckReady(Soon()).ok(); }, Soon()));
}

TEST_F(AppendProbeTest, ARoleThatMayNotInsertIsNotReady) {
  const std::string role = "halo_reader";
  ASSERT_OK(support::SharedCluster().CreateRole(role));
  ASSERT_OK(Migrate(OptionsFor(url()), role));
  ASSERT_OK_AND_ASSIGN(const auto app,
                       Open(conformance::Streams(), OptionsFor(support::WithRole(url(), role))));
  EXPECT_OK(app->CheckReady(Soon()));
  Run("revoke insert on halo_journal from " + role);
  ASSERT_TRUE(support::WaitFor([&] { return !app->CheckReady(Soon()).ok(); }, Soon()));
  EXPECT_EQ(ReasonOf(app->CheckReady(Soon())), Reason::kForbidden);
  Run("grant insert on halo_journal to " + role);
  EXPECT_OK(app->CheckReady(Soon()));
}

TEST_F(AppendProbeTest, LeavesNothingBehind) {
  EXPECT_OK(Ready());
  EXPECT_EQ(Value("select count(*) from halo_journal"), "0");
}

}  // namespace
}  // namespace engine::postgres
