// Key-value rows in SQL: what the conformance suite cannot see from outside.

#include "engine/postgres/key_value.h"

#include <gmock/gmock.h>

#include "engine/base/thread.h"
#include "tests/engine/postgres/fixture.h"
#include "tests/support/poll.h"
#include "tests/support/process.h"
#include "tests/support/session.h"

namespace engine::postgres {
namespace {

using std::chrono::minutes;

class PostgresKeyValueTest : public PostgresTest {
 protected:
  KeyValue& kv() { return engine().key_value(); }
};

// The row expires while the take waits for it: judged before the wait it would be taken.
TEST_F(PostgresKeyValueTest, ATakeIsJudgedAfterItsWait) {
  ASSERT_OK(kv().Put("enroll/x", "token", minutes(10), Soon()));
  Run("update halo_kv set expires_at = clock_timestamp() + interval '300 milliseconds'");
  support::Session blocker(url());
  ASSERT_TRUE(blocker.Run("begin; select 1 from halo_kv for update").ok);
  absl::StatusOr<std::optional<Entry>> taken = absl::UnknownError("not yet");
  Thread waiting("take", [&] { taken = kv().Take("enroll/x", Soon()); });
  EXPECT_TRUE(support::WaitFor(
      [&] {
        return Value(
                   "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
                   " and datname = current_database()") == "1";
      },
      Soon()));
  EXPECT_TRUE(support::WaitFor(
      [&] { return Value("select expires_at < clock_timestamp() from halo_kv") == "t"; }, Soon()));
  ASSERT_TRUE(blocker.Run("rollback").ok);
  waiting.Join();
  ASSERT_OK(taken);
  EXPECT_FALSE(taken->has_value());
}

TEST_F(PostgresKeyValueTest, ACounterThatIsFullWritesNothing) {
  ASSERT_OK(kv().Count("auth/x", minutes(10), 1, Soon()).status());
  const std::string row = Value("select ctid::text || xmin from halo_kv");
  for (int i = 0; i < 3; ++i) {
    ASSERT_OK_AND_ASSIGN(const int count, kv().Count("auth/x", minutes(10), 1, Soon()));
    EXPECT_EQ(count, 2);
  }
  EXPECT_EQ(Value("select ctid::text || xmin from halo_kv"), row);
}

TEST_F(PostgresKeyValueTest, EventsThatLieAheadLeaveTheWindowInTime) {
  ASSERT_OK(kv().Count("auth/x", minutes(10), 3, Soon()).status());
  // The clock was a day ahead when it was counted.
  Run("update halo_kv set value = int8send(((extract(epoch from clock_timestamp()) + 86400)"
      " * 1000000)::int8), expires_at = clock_timestamp() + interval '1 day'");
  ASSERT_OK_AND_ASSIGN(const int count, kv().Count("auth/x", minutes(10), 3, Soon()));
  EXPECT_EQ(count, 2);
  EXPECT_EQ(Value("select substr(value, 1, 8) <= int8send((extract(epoch from clock_timestamp())"
                  " * 1000000)::int8) from halo_kv"),
            "t");
}

TEST_F(PostgresKeyValueTest, TheSweepPassesRowsThatAreLockedBySomebodyElse) {
  ASSERT_OK(kv().Put("a", "x", std::chrono::milliseconds(1), Soon()));
  ASSERT_OK(kv().Put("b", "x", std::chrono::milliseconds(1), Soon()));
  EXPECT_TRUE(support::WaitFor(
      [&] {
        return Value("select count(*) from halo_kv where expires_at < clock_timestamp()") == "2";
      },
      Soon()));
  support::Session other(url());
  ASSERT_TRUE(other.Run("begin; select 1 from halo_kv where key = 'a' for update").ok);
  ASSERT_OK_AND_ASSIGN(const int swept, kv().Sweep(10, Soon()));
  EXPECT_EQ(swept, 1);
  ASSERT_TRUE(other.Run("rollback").ok);
}

TEST_F(PostgresKeyValueTest, ALostDatabaseIsNoMissingRow) {
  ASSERT_OK_AND_ASSIGN(const auto cluster, support::PostgresCluster::Start());
  UseCluster(*cluster);
  ASSERT_OK(kv().Put("k", "v", minutes(10), Soon()));
  ASSERT_OK(cluster->Stop(support::StopMode::kImmediate));
  EXPECT_FALSE(kv().Get("k", Soon()).ok());
  EXPECT_FALSE(kv().Take("k", Soon()).ok());
  EXPECT_FALSE(kv().Add("k", "w", minutes(10), Soon()).ok());
  EXPECT_FALSE(engine().leases().Acquire("l", "h", minutes(1), Soon()).ok());
  ASSERT_OK(cluster->StartAgain());
  EXPECT_TRUE(support::WaitFor(
      [&] {
        const auto entry = kv().Get("k", Soon());
        return entry.ok() && entry->has_value() && (*entry)->value == "v";
      },
      Soon()));
}

TEST_F(PostgresKeyValueTest, AStandbysAnswerCountsForNothing) {
  ASSERT_OK_AND_ASSIGN(const auto cluster, support::PostgresCluster::Start());
  UseCluster(*cluster);
  ASSERT_OK(kv().Put("k", "v", minutes(10), Soon()));
  ASSERT_OK_AND_ASSIGN(const LeaseAnswer won,
                       engine().leases().Acquire("l", "h", minutes(10), Soon()));
  ASSERT_OK(cluster->Stop(support::StopMode::kFast));
  ASSERT_OK_AND_ASSIGN(
      const auto touch,
      support::Process::Start({.argv = {"touch", cluster->data_directory() + "/standby.signal"}}));
  ASSERT_OK(touch->Wait(Soon()));
  ASSERT_OK(cluster->StartAgain());
  ASSERT_EQ(Value("select pg_is_in_recovery()"), "t");

  const auto unavailable = support::StatusIs(absl::StatusCode::kUnavailable);
  EXPECT_THAT(kv().Get("k", Soon()), unavailable);
  EXPECT_THAT(kv().Take("k", Soon()), unavailable);
  EXPECT_THAT(kv().Add("other", "v", minutes(10), Soon()), unavailable);
  EXPECT_THAT(engine().leases().Renew({"l", "h", won.token}, minutes(10), Soon()), unavailable);
  EXPECT_THAT(engine().leases().Acquire("free", "h", minutes(10), Soon()), unavailable);
}

// A single-use token that was taken here and nowhere else could be taken again after a failover.
TEST_F(PostgresKeyValueTest, ATakeWhoseWaitForTheStandbyWasCutIsNoTake) {
  ASSERT_OK_AND_ASSIGN(const auto cluster, support::PostgresCluster::Start());
  UseCluster(*cluster);
  // An administrator's setting for the role does not make it less durable.
  Run("alter role postgres set synchronous_commit = off");
  ASSERT_OK(kv().Put("enroll/x", "token", minutes(10), Soon()));
  ASSERT_OK(cluster->Set("synchronous_standby_names", "ghost"));
  cluster->Reload();
  ASSERT_TRUE(
      support::WaitFor([&] { return Value("show synchronous_standby_names") == "ghost"; }, Soon()));
  absl::StatusOr<std::optional<Entry>> taken = absl::UnknownError("not yet");
  Thread waiting("take", [&] { taken = kv().Take("enroll/x", Soon()); });
  EXPECT_TRUE(support::WaitFor(
      [&] {
        return Value("select count(*) from pg_stat_activity where wait_event = 'SyncRep'") == "1";
      },
      Soon()));
  Run("select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'");
  waiting.Join();
  EXPECT_THAT(taken, support::StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace engine::postgres
