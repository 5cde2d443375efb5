// Leases and fences in SQL: what the conformance suite cannot see from outside.

#include "engine/postgres/leases.h"

#include <atomic>

#include <absl/strings/str_format.h>
#include <gmock/gmock.h>

#include "engine/base/reason.h"
#include "engine/base/status_macros.h"
#include "engine/base/thread.h"
#include "engine/postgres/address.h"
#include "engine/postgres/session.h"
#include "tests/engine/postgres/fixture.h"
#include "tests/support/poll.h"
#include "tests/support/process.h"
#include "tests/support/session.h"

namespace engine::postgres {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::minutes;
using support::StatusIs;

class PostgresLeasesTest : public PostgresTest {
 protected:
  Leases& leases() { return engine().leases(); }

  Fence Win(const std::string& name, const std::string& holder) {
    const auto answer = leases().Acquire(name, holder, minutes(10), Soon());
    EXPECT_OK(answer);
    EXPECT_TRUE(answer.ok() && answer->held);
    return {name, holder, answer.ok() ? answer->token : 0};
  }

  std::unique_ptr<Connection> Connect() {
    auto servers = ParseAddress(url(), false, "test");
    EXPECT_OK(servers);
    Options options = OptionsFor(url());
    options.stats = std::make_shared<Stats>();
    const Connector connector(*std::move(servers), Pooler::kAuto, options);
    auto connection = connector.Connect(statements_, Soon());
    EXPECT_OK(connection);
    return *std::move(connection);
  }

  // What a transaction would be told about its fences. Leaves it open on `connection`.
  std::vector<absl::Status> BeginUnder(Connection& connection, const std::vector<Fence>& fences) {
    const RunOutcome outcome = connection.Run({{statements_.begin, {}},
                                               {statements_.fence_lock, FenceLockParams(fences)},
                                               {statements_.fence_judge, FenceJudgeParams(fences)}},
                                              Soon());
    EXPECT_OK(outcome.status);
    return outcome.status.ok() ? FencesOf(fences, outcome.results[2]) : std::vector<absl::Status>();
  }
  absl::Status Judged(const Fence& fence) {
    const std::unique_ptr<Connection> connection = Connect();
    return BeginUnder(*connection, {fence}).at(0);
  }

  bool SomebodyWaitsForALock() {
    return support::WaitFor(
        [&] {
          return Value(
                     "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
                     " and datname = current_database()") == "1";
        },
        Soon());
  }

  const Statements statements_{"public"};
};

TEST_F(PostgresLeasesTest, AFenceHoldsForItsTermAndNoLonger) {
  const Fence fence = Win("controller", "a");
  EXPECT_OK(Judged(fence));
  EXPECT_TRUE(IsFenced(Judged({"controller", "b", fence.token})));
  EXPECT_TRUE(IsFenced(Judged({"controller", "a", fence.token + 1})));
  EXPECT_TRUE(IsFenced(Judged({"nobody-ever", "a", fence.token})));
  Run("update halo_leases set expires_at = clock_timestamp() - interval '1 millisecond'");
  EXPECT_TRUE(IsFenced(Judged(fence)));
}

TEST_F(PostgresLeasesTest, FencesAreAnsweredInTheirOrder) {
  const Fence b = Win("b", "h");
  const Fence a = Win("a", "h");
  const std::unique_ptr<Connection> connection = Connect();
  const auto statuses = BeginUnder(*connection, {b, {"c", "h", 1}, a});
  ASSERT_EQ(statuses.size(), 3U);
  EXPECT_OK(statuses[0]);
  EXPECT_TRUE(IsFenced(statuses[1]));
  EXPECT_OK(statuses[2]);
}

TEST_F(PostgresLeasesTest, ATakeoverWaitsForTheWriteUnderTheFence) {
  const Fence fence = Win("controller", "a");
  const std::unique_ptr<Connection> writer = Connect();
  EXPECT_OK(BeginUnder(*writer, {fence}).at(0));
  support::Session administrator(url());
  administrator.Send(
      "update halo_leases set expires_at = clock_timestamp() where name ='controller'");
  EXPECT_TRUE(administrator.WaitUntilBlocked()) << "a fence must keep updates of the row out";
  std::atomic<bool> written = false;
  Thread takeover("takeover", [&] {
    // Until the administrator has had his turn the term is still alive.
    EXPECT_TRUE(support::WaitFor(
        [&] {
          const auto answer = leases().Acquire("controller", "b", minutes(10), Soon());
          EXPECT_OK(answer);
          return answer.ok() && answer->held;
        },
        Soon()));
    EXPECT_TRUE(written);
  });
  written = true;
  ASSERT_OK(writer->Run({{statements_.commit, {}}}, Soon()).status);
  EXPECT_TRUE(administrator.Finish().ok);
  takeover.Join();
  EXPECT_TRUE(IsFenced(Judged(fence)));
}

TEST_F(PostgresLeasesTest, ACampaignThatWaitedInVainIsNoErrorOfTheDatabase) {
  Options options = OptionsFor(url());
  options.stats = std::make_shared<Stats>();
  ASSERT_OK_AND_ASSIGN(const auto store, Open(conformance::Streams(), options));
  ASSERT_OK(store->leases().Acquire("controller", "a", minutes(10), Soon()));
  support::Session other(url());
  ASSERT_TRUE(other.Run("begin; update halo_leases set token = token").ok);
  const auto vain = store->leases().Acquire("controller", "b", std::chrono::seconds(3), Soon());
  EXPECT_EQ(ReasonOf(vain.status()), Reason::kLockBusy);
  EXPECT_EQ(options.stats->errors(), 0U);
  ASSERT_TRUE(other.Run("rollback; begin").ok);
  ASSERT_TRUE(other.Run(statements_.lock.sql).ok);
  EXPECT_FALSE(store->journal().Begin(Deadline::After(std::chrono::seconds(1))).ok());
  EXPECT_EQ(options.stats->errors(DbError::kTimeout), 1U) << "a request has failed there";
}

// The lease runs out while the fence waits for its row: judged before the wait it would hold.
TEST_F(PostgresLeasesTest, AFenceIsJudgedAfterItsWait) {
  const Fence fence = Win("controller", "a");
  Run("update halo_leases set expires_at = clock_timestamp() + interval '300 milliseconds'");
  support::Session blocker(url());
  ASSERT_TRUE(blocker.Run("begin; select 1 from halo_leases for update").ok);
  absl::Status judged;
  Thread waiting("fence", [&] { judged = Judged(fence); });
  EXPECT_TRUE(SomebodyWaitsForALock());
  EXPECT_TRUE(support::WaitFor(
      [&] { return Value("select expires_at < clock_timestamp() from halo_leases") == "t"; },
      Soon()));
  ASSERT_TRUE(blocker.Run("rollback").ok);
  waiting.Join();
  EXPECT_TRUE(IsFenced(judged)) << judged;
}

TEST_F(PostgresLeasesTest, ARenewalIsJudgedAfterItsWait) {
  const Fence fence = Win("controller", "a");
  Run("update halo_leases set expires_at = clock_timestamp() + interval '300 milliseconds'");
  support::Session blocker(url());
  ASSERT_TRUE(blocker.Run("begin; select 1 from halo_leases for update").ok);
  absl::StatusOr<LeaseAnswer> renewed = absl::UnknownError("not yet");
  Thread waiting("renewal", [&] { renewed = leases().Renew(fence, minutes(10), Soon()); });
  EXPECT_TRUE(SomebodyWaitsForALock());
  EXPECT_TRUE(support::WaitFor(
      [&] { return Value("select expires_at < clock_timestamp() from halo_leases") == "t"; },
      Soon()));
  ASSERT_TRUE(blocker.Run("rollback").ok);
  waiting.Join();
  ASSERT_OK(renewed);
  EXPECT_FALSE(renewed->held);
}

TEST_F(PostgresLeasesTest, ARenewalWaitsForASixthOfItsTimeToLiveAtMost) {
  const Fence fence = Win("controller", "a");
  support::Session blocker(url());
  ASSERT_TRUE(blocker.Run("begin; select 1 from halo_leases for update").ok);
  EXPECT_THAT(leases().Renew(fence, milliseconds(300), Deadline::Infinite()),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  ASSERT_TRUE(blocker.Run("rollback").ok);
  EXPECT_TRUE(leases().Renew(fence, minutes(10), Soon())->held);
}

TEST_F(PostgresLeasesTest, AnExpiryFromAClockThatWasSetBackCountsAsPassed) {
  const Fence fence = Win("controller", "a");
  Run("update halo_leases set expires_at = clock_timestamp() + interval '9 hours'");
  ASSERT_OK_AND_ASSIGN(const LeaseAnswer answer,
                       leases().Acquire("controller", "b", minutes(10), Soon()));
  EXPECT_TRUE(answer.held);
  EXPECT_GT(answer.token, fence.token);
}

TEST_F(PostgresLeasesTest, TokensCarryTheEpochOfTheServersLife) {
  const Fence first = Win("controller", "a");
  const std::string epoch = Value("select epoch from halo_epoch");
  EXPECT_EQ(absl::StrFormat("%d", first.token >> kTokenEpochBits), epoch);
  EXPECT_EQ(Value("select count(*) from halo_epoch e, pg_control_system() c"
                  " where e.server_start = pg_postmaster_start_time()"
                  " and e.system_identifier = c.system_identifier and e.timeline = 1"),
            "1");
  Win("other", "a");
  EXPECT_EQ(Value("select count(*) from halo_epoch"), "1") << "one row a life";
}

TEST_F(PostgresLeasesTest, AnotherLifeRaisesTheEpochAndWithItTheTokens) {
  const Fence first = Win("controller", "a");
  ASSERT_OK(leases().Release(first, Soon()));
  // As if the rows had been written in the server's life before, which saw a later clock.
  Run("update halo_epoch set server_start = server_start - interval '1 day', epoch = 2000000000");
  Run("update halo_leases set token = (2000000000::bigint << 32) + 5");
  const Fence second = Win("controller", "b");
  EXPECT_EQ(second.token >> kTokenEpochBits, 2'000'000'001U);
  EXPECT_EQ(Value("select max(epoch) from halo_epoch"), "2000000001");
}

TEST_F(PostgresLeasesTest, TokensOfLostRowsDoNotComeBack) {
  const Fence first = Win("controller", "a");
  // A restore from before the lease was ever taken, epoch and all. A second later the clock has
  // passed the lost token.
  EXPECT_TRUE(support::WaitFor(
      [&] {
        Run("truncate halo_leases, halo_epoch");
        return Win("controller", "b").token > first.token;
      },
      Soon()));
}

TEST_F(PostgresLeasesTest, ConcurrentNotesOfOneLifeMakeOneRow) {
  std::vector<Thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back("note", [&] {
      const std::unique_ptr<Connection> connection = Connect();
      const RunOutcome outcome = connection->Run({{statements_.begin, {}},
                                                  {statements_.note_epoch, {}},
                                                  {statements_.epoch, {}},
                                                  {statements_.commit, {}}},
                                                 Soon());
      EXPECT_OK(outcome.status);
      EXPECT_TRUE(outcome.status.ok() && outcome.results[2].rows() == 1);
    });
  }
  threads.clear();
  EXPECT_EQ(Value("select count(*) from halo_epoch"), "1");
}

TEST_F(PostgresLeasesTest, ARenewalIsNotStarvedByFencedWrites) {
  const Fence fence = Win("controller", "a");
  std::atomic<bool> stop = false;
  std::vector<Thread> writers;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back("writer", [&] {
      const std::unique_ptr<Connection> connection = Connect();
      const Statement work{"", "select pg_sleep(0.02)"};
      while (!stop) {
        EXPECT_OK(BeginUnder(*connection, {fence}).at(0));
        EXPECT_OK(connection->Run({{work, {}}, {statements_.commit, {}}}, Soon()).status);
      }
    });
  }
  for (int i = 0; i < 20; ++i) {
    const auto renewed = leases().Renew(fence, minutes(10), Soon());
    EXPECT_OK(renewed);
    EXPECT_TRUE(renewed.ok() && renewed->held);
  }
  stop = true;
  writers.clear();
}

// The whole store goes back to an earlier point: rows, epochs and all that was done since is lost.
TEST_F(PostgresLeasesTest, TokensOutliveARestoreOfTheWholeServer) {
  ASSERT_OK_AND_ASSIGN(const auto cluster, support::PostgresCluster::Start());
  UseCluster(*cluster);
  const std::string data = cluster->data_directory();
  const auto run = [](std::vector<std::string> argv) {
    ASSERT_OK(support::RunToSuccess({.argv = std::move(argv)}, Soon()));
  };
  const auto restart = [&] {
    ASSERT_OK(cluster->StartAgain());
    OpenAgain();
  };
  ASSERT_OK(leases().Release(Win("controller", "a"), Soon()));
  ASSERT_OK(cluster->Stop(support::StopMode::kFast));
  run({"cp", "-a", data, data + ".backup"});

  // Two more lives of the server, with terms in each of them.
  std::uint64_t newest = 0;
  for (int life = 0; life < 2; ++life) {
    restart();
    for (int term = 0; term < 3; ++term) {
      const Fence won = Win("controller", "b");
      EXPECT_GT(won.token, newest);
      newest = won.token;
      ASSERT_OK(leases().Release(won, Soon()));
    }
    ASSERT_OK(cluster->Stop(support::StopMode::kFast));
  }
  // Longer than the terms came after one another: they ran ahead of the seconds in their tokens.
  const Timestamp stopped = SystemClock().Now();
  EXPECT_TRUE(support::WaitFor(
      [&] { return SystemClock().Now().micros > stopped.micros + 4'000'000; }, Soon()));
  run({"rm", "-rf", data});
  run({"mv", data + ".backup", data});
  restart();
  EXPECT_EQ(Value("select count(*) from halo_epoch"), "1") << "the other lives are forgotten";
  EXPECT_GT(Win("controller", "c").token, newest);
}

TEST_F(PostgresLeasesTest, RenewalsHaveAConnectionOfTheirOwn) {
  Options options = OptionsFor(url());
  options.max_conns = 5;
  ASSERT_OK_AND_ASSIGN(const auto small, Open(conformance::Streams(), options));
  ASSERT_OK_AND_ASSIGN(const LeaseAnswer won,
                       small->leases().Acquire("controller", "a", minutes(10), Soon()));
  // All that others may use is in use: the journal's lock, and readers stuck behind a table lock.
  ASSERT_OK_AND_ASSIGN(const auto transaction, small->journal().Begin(Soon()));
  support::Session administrator(url());
  ASSERT_TRUE(administrator.Run("begin; lock table halo_kv in access exclusive mode").ok);
  std::vector<Thread> readers;
  for (int i = 0; i < 6; ++i) {
    readers.emplace_back("reader", [&] { static_cast<void>(small->key_value().Get("k", Soon())); });
  }
  ASSERT_OK_AND_ASSIGN(const LeaseAnswer renewed,
                       small->leases().Renew({"controller", "a", won.token}, minutes(10), Soon()));
  EXPECT_TRUE(renewed.held);
  ASSERT_TRUE(administrator.Run("rollback").ok);
  readers.clear();
}

}  // namespace
}  // namespace engine::postgres
