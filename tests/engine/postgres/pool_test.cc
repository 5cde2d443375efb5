// Places, connections of their own, and when idle ones end.

#include "engine/postgres/pool.h"

#include <atomic>

#include <gmock/gmock.h>

#include "engine/base/thread.h"
#include "engine/postgres/session.h"
#include "tests/engine/postgres/fixture.h"
#include "tests/support/logs.h"
#include "tests/support/poll.h"

namespace engine::postgres {
namespace {

using support::StatusIs;

class PoolTest : public PostgresTest {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(PostgresTest::SetUp());
    options_ = OptionsFor(url());
    options_.stats = std::make_shared<Stats>();
  }

  Pool& pool() {
    if (pool_ == nullptr) {
      auto servers = ParseAddress(url(), false, "pool");
      EXPECT_OK(servers);
      connector_ = std::make_unique<Connector>(*std::move(servers), Pooler::kNone, options_);
      pool_ = std::make_unique<Pool>(options_, [this](Lane, Deadline deadline) {
        return connector_->Connect(statements_, deadline);
      });
    }
    return *pool_;
  }

  Pool::Lease Take(Lane lane) {
    auto lease = pool().Acquire(lane, Soon());
    EXPECT_OK(lease);
    return *std::move(lease);
  }

  std::int64_t Open() const { return options_.stats->open_connections; }

  Options options_;
  const Statements statements_{"public"};
  std::unique_ptr<Connector> connector_;
  std::unique_ptr<Pool> pool_;
};

TEST_F(PoolTest, WithEveryOtherConnectionBusyThePingAndTheLeaseHaveTheirs) {
  options_.max_conns = 7;
  std::vector<Pool::Lease> busy;
  for (int i = 0; i < 5; ++i) {
    busy.push_back(Take(i == 0 ? Lane::kCommit : Lane::kFlight));
  }
  EXPECT_THAT(pool().Acquire(Lane::kShared, Deadline::After(std::chrono::milliseconds(1))),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  {
    const Pool::Lease ping = Take(Lane::kReady);
    const Pool::Lease lease = Take(Lane::kLease);
    EXPECT_EQ(options_.stats->used_connections, 7);
    EXPECT_EQ(Open(), 7);
  }
  EXPECT_EQ(options_.stats->used_connections, 5);
}

TEST_F(PoolTest, NobodyElseGetsTheConnectionOfThePing) {
  Take(Lane::kReady);
  const Pool::Lease other = Take(Lane::kFlight);
  EXPECT_EQ(options_.stats->connects, 2U);
  for (int i = 0; i < 5; ++i) {
    Take(Lane::kReady);
  }
  EXPECT_EQ(options_.stats->connects, 2U) << "the ping does not connect again and again";
}

TEST_F(PoolTest, SpareIdleConnectionsAreClosed) {
  options_.max_idle_conns = 2;
  {
    std::vector<Pool::Lease> busy;
    for (int i = 0; i < 6; ++i) {
      busy.push_back(Take(Lane::kShared));
    }
    EXPECT_EQ(Open(), 6);
  }
  EXPECT_EQ(Open(), 2);
}

TEST_F(PoolTest, ConnectionsThatWereIdleForTooLongAreClosed) {
  options_.conn_max_idle_time = std::chrono::milliseconds(20);
  {
    const Pool::Lease one = Take(Lane::kShared);
    const Pool::Lease two = Take(Lane::kShared);
  }
  EXPECT_TRUE(support::WaitFor(
      [&] {
        Take(Lane::kReady);  // As the readiness probe does, whatever else happens.
        return Open() <= 1;
      },
      Soon()));
}

TEST_F(PoolTest, AnOldConnectionIsNotUsedAgain) {
  options_.conn_max_lifetime = std::chrono::nanoseconds(1);
  Take(Lane::kShared);
  Take(Lane::kShared);
  EXPECT_EQ(options_.stats->connects, 2U);
  EXPECT_EQ(Open(), 0);
}

TEST_F(PoolTest, AConnectionThatTheServerEndedIsNotGivenOut) {
  Take(Lane::kShared);
  Run("select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'pool'");
  ASSERT_TRUE(support::WaitFor(
      [&] {
        return Value("select count(*) from pg_stat_activity where application_name = 'pool'") ==
               "0";
      },
      Soon()));
  const Pool::Lease lease = Take(Lane::kShared);
  EXPECT_OK(lease->Run({{statements_.ping, {}}}, Soon()).status);
}

TEST_F(PoolTest, ErrorsAreCountedByKind) {
  const auto errors = [this](DbError kind) { return options_.stats->errors(kind); };
  const Statement refused{"", "select 1 from pg_catalog.pg_class where nothing"};
  const Statement slow{"", "select pg_catalog.pg_sleep(20)"};
  EXPECT_FALSE(Take(Lane::kShared)->Run({{refused, {}}}, Soon()).status.ok());
  EXPECT_EQ(errors(DbError::kLost), 1U) << "a column that is gone is another database";
  const Deadline early = Deadline::After(std::chrono::milliseconds(50));
  EXPECT_FALSE(Take(Lane::kShared)->Run({{slow, {}}}, early).status.ok());
  EXPECT_EQ(errors(DbError::kTimeout), 1U);
  EXPECT_EQ(options_.stats->errors(), 2U);
}

// A whole fleet of requests on a database that comes back: few connects, and all are served.
TEST(PoolHerdTest, RequestsOfAnOutageDoNotFallUponTheDatabase) {
  ASSERT_OK_AND_ASSIGN(auto cluster, support::PostgresCluster::Start());
  ASSERT_OK_AND_ASSIGN(const std::string url, cluster->CreateDatabase("herd"));
  ASSERT_OK(Migrate(OptionsFor(url)));
  Options options = OptionsFor(url);
  options.stats = std::make_shared<Stats>();
  ASSERT_OK_AND_ASSIGN(auto engine, Open(conformance::Streams(), options));
  ASSERT_OK(cluster->Stop(support::StopMode::kImmediate));
  std::atomic<int> failed = 0;
  std::atomic<int> served = 0;
  {
    std::vector<Thread> readers;
    for (int i = 0; i < 60; ++i) {
      readers.emplace_back("reader", [&] {
        bool done = false;
        while (!done) {
          done = engine->journal().ReadAfter(conformance::FromTheStart(), Soon()).ok();
          (done ? served : failed) += 1;
        }
      });
    }
    ASSERT_TRUE(support::WaitFor([&] { return failed > 150; }, Soon()));
    const std::uint64_t tried = options.stats->errors(DbError::kConnect);
    EXPECT_LT(tried, static_cast<std::uint64_t>(failed) / 5)
        << "of many requests that failed, few asked the database";
    ASSERT_OK(cluster->StartAgain());
  }
  EXPECT_EQ(served, 60) << "healed without a restart";
  EXPECT_LE(options.stats->open_connections, options.max_conns);
}

std::string Kind(const Statement& statement) {
  const SqlKind kind = KindOfSql(statement.sql);
  return std::string(kSqlOperationNames[static_cast<std::size_t>(kind.operation)]) + " " +
         std::string(kSqlTableNames[kind.table]);
}

TEST(StatementsTest, EachHasItsPlaceInTheMetrics) {
  const Statements statements("public");
  EXPECT_EQ(Kind(statements.insert), "create halo_journal");
  EXPECT_EQ(Kind(statements.news), "query halo_journal");
  EXPECT_EQ(Kind(statements.answers), "query halo_idempotency");
  EXPECT_EQ(Kind(statements.keep), "create halo_idempotency");
  EXPECT_EQ(Kind(statements.prune), "delete halo_idempotency");
  EXPECT_EQ(Kind(statements.raise_floor), "update halo_streams");
  EXPECT_EQ(Kind(statements.fence_lock), "query halo_leases");
  EXPECT_EQ(Kind(statements.kv_put), "create halo_kv");
  EXPECT_EQ(Kind(statements.kv_take), "delete halo_kv");
  for (const Statement* raw : {&statements.begin, &statements.settings, &statements.lock,
                               &statements.commit, &statements.rollback}) {
    EXPECT_EQ(Kind(*raw), "raw ");
  }
}

TEST_F(PoolTest, StatementsAreCountedAndSlowOnesToldOf) {
  const Statement slow{"",
                       "select pg_catalog.pg_sleep(0.25) from halo_kv right join (values (1)) v "
                       "on true"};
  const Statement wrong{"", "insert into halo_kv (key) values (null)"};
  Pool::Lease lease = Take(Lane::kShared);
  ASSERT_OK(lease->Run({{slow, {}}}, Soon()).status);
  const std::vector<std::string> lines = support::LogLines();
  EXPECT_THAT(lines, testing::Contains(testing::AllOf(
                         testing::HasSubstr(R"("message":"slow statement")"),
                         testing::HasSubstr(R"("operation":"query","table":"halo_kv")"))));
  EXPECT_FALSE(lease->Run({{wrong, {}}}, Soon()).status.ok());
  const QueryTimes& queries = options_.stats->queries;
  EXPECT_EQ(queries.failures(SqlOperation::kCreate, SqlFailure::kConstraint), 1u);
  const auto all = queries.Collect();
  const auto slept = std::ranges::find_if(all, [&](const auto& series) {
    return series.kind.operation == SqlOperation::kQuery &&
           series.kind.table == KindOfSql(slow.sql).table;
  });
  ASSERT_NE(slept, all.end());
  EXPECT_GE(slept->sum, 0.25);
}

}  // namespace
}  // namespace engine::postgres
