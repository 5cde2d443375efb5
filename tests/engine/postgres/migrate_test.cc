#include "engine/postgres/migrate.h"

#include <atomic>

#include <gmock/gmock.h>

#include "engine/base/thread.h"
#include "tests/engine/postgres/fixture.h"
#include "tests/support/pgbouncer.h"
#include "tests/support/session.h"

namespace engine::postgres {
namespace {

using support::SharedCluster;
using support::Sql;
using support::SqlValue;
using support::StatusIs;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class MigrateTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_OK_AND_ASSIGN(url_, SharedCluster().CreateDatabase("migrate")); }

  absl::Status TryOpen() { return Open(conformance::Streams(), OptionsFor(url_)).status(); }

  std::string url_;
};

TEST_F(MigrateTest, AppliesWhatIsPendingAndThenNothing) {
  ASSERT_OK_AND_ASSIGN(const auto first, Migrate(OptionsFor(url_)));
  EXPECT_THAT(first, ElementsAre("0001_init.sql", "0002_coordination.sql"));
  ASSERT_OK_AND_ASSIGN(const auto again, Migrate(OptionsFor(url_)));
  EXPECT_THAT(again, IsEmpty());
  EXPECT_OK(TryOpen());
}

// Case 94.
TEST_F(MigrateTest, OfConcurrentRunnersOneDoesTheWork) {
  std::atomic<int> applied = 0;
  {
    std::vector<Thread> runners;
    for (int i = 0; i < 6; ++i) {
      runners.emplace_back("runner", [&] {
        const auto names = Migrate(OptionsFor(url_));
        ASSERT_OK(names);
        applied += static_cast<int>(names->size());
      });
    }
  }
  EXPECT_EQ(applied, static_cast<int>(EmbeddedMigrations().size()));
}

TEST_F(MigrateTest, WorksThroughAPooler) {
  ASSERT_OK_AND_ASSIGN(auto bouncer, support::PgBouncer::Start(SharedCluster()));
  ASSERT_OK(Migrate(OptionsFor(bouncer->Through(url_))));
  EXPECT_OK(TryOpen());
}

TEST_F(MigrateTest, AFailingMigrationChangesNothing) {
  std::vector<Migration> migrations = EmbeddedMigrations();
  migrations.push_back({static_cast<int>(migrations.size()) + 1, "bad.sql", 1,
                        "create table halo_new (a int); select 1 / 0;"});
  EXPECT_FALSE(MigrateTo(migrations, OptionsFor(url_), "").ok());
  ASSERT_OK_AND_ASSIGN(const std::string tables,
                       SqlValue(url_, "select count(*) from pg_class where relname ~ '^halo_'"));
  EXPECT_EQ(tables, "0");
}

// Everything before the last migration; the last one alters a table that is in use.
class BusyMigrateTest : public MigrateTest {
 protected:
  void SetUp() override {
    ASSERT_NO_FATAL_FAILURE(MigrateTest::SetUp());
    ASSERT_OK(Migrate(OptionsFor(url_)));
    migrations_ = EmbeddedMigrations();
    migrations_.push_back({static_cast<int>(migrations_.size()) + 1, "next.sql", 1,
                           "alter table halo_streams add column next_note text;"});
  }
  std::string Applied() {
    const auto value = SqlValue(url_, "select count(*) from halo_schema_migrations");
    EXPECT_OK(value);
    return value.value_or("");
  }

  std::vector<Migration> migrations_;
};

// V19: DDL that waits for a reader makes everybody behind it wait. Ours gives way.
TEST_F(BusyMigrateTest, BehindALongReaderItWaitsAndNobodyWaitsForIt) {
  support::Session reader(url_);
  ASSERT_TRUE(reader.Run("begin; select * from halo_streams").ok);
  absl::StatusOr<std::vector<std::string>> names = absl::UnknownError("not run");
  Thread runner("runner", [&] { names = MigrateTo(migrations_, OptionsFor(url_), ""); });
  support::Session observer(url_);
  const Deadline enough = Deadline::After(std::chrono::minutes(2));
  int met = 0;
  while (met < 3 && !enough.HasPassed()) {
    const std::string waiting =
        "select count(*) from pg_locks where not granted and relation = 'halo_streams'::regclass";
    if (observer.Run(waiting).Value() == "1") {
      // In front of us is one that queues for the table, and stays for as long as it is patient.
      if (!Sql(url_, "set lock_timeout = '5s'; select * from halo_streams").ok()) {
        break;  // The migration must be let through, or this would wait for it.
      }
      ++met;
    }
  }
  EXPECT_EQ(met, 3) << "somebody behind the migration waited for it";
  EXPECT_EQ(Applied(), std::to_string(migrations_.size() - 1));
  ASSERT_TRUE(reader.Run("commit").ok);
  runner.Join();
  ASSERT_OK(names);
  EXPECT_THAT(*names, ElementsAre("next.sql"));
  EXPECT_EQ(Applied(), std::to_string(migrations_.size()));
}

TEST_F(BusyMigrateTest, ItsPatienceEndsAndNothingWasChanged) {
  support::Session reader(url_);
  ASSERT_TRUE(reader.Run("begin; select * from halo_streams").ok);
  EXPECT_THAT(MigrateTo(migrations_, OptionsFor(url_), "",
                        {.patience = std::chrono::milliseconds(700),
                         .lock = std::chrono::milliseconds(50)}),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(Applied(), std::to_string(migrations_.size() - 1));
  EXPECT_EQ(reader.Run("select count(*) from pg_locks where locktype = 'advisory'").Value(), "0");
}

TEST_F(BusyMigrateTest, AStatementThatKeepsATableForTooLongIsGivenUp) {
  migrations_.back().sql += "select pg_sleep(30);";
  EXPECT_THAT(
      MigrateTo(migrations_, OptionsFor(url_), "", {.statement = std::chrono::milliseconds(100)}),
      StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("next.sql")));
  EXPECT_EQ(Applied(), std::to_string(migrations_.size() - 1));
}

TEST_F(MigrateTest, ASchemaBehindIsRefused) {
  EXPECT_THAT(TryOpen(),
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("halo-server migrate")));
  ASSERT_OK(Migrate(OptionsFor(url_)));
  ASSERT_OK(Sql(url_, "delete from halo_schema_migrations"));
  EXPECT_THAT(TryOpen(), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("behind")));
}

TEST_F(MigrateTest, ASchemaAheadIsRefusedUnlessItAcceptsUs) {
  std::vector<Migration> migrations = EmbeddedMigrations();
  const int next = static_cast<int>(migrations.size()) + 1;
  migrations.push_back({next, "more.sql", 1, "create table halo_more (a int);"});
  ASSERT_OK_AND_ASSIGN(const auto names, MigrateTo(migrations, OptionsFor(url_), ""));
  EXPECT_THAT(names, ElementsAre("0001_init.sql", "0002_coordination.sql", "more.sql"));
  EXPECT_OK(TryOpen());
  ASSERT_OK(Sql(url_, "update halo_schema_migrations set min_binary_schema = " +
                          std::to_string(next) + " where version = " + std::to_string(next)));
  EXPECT_THAT(TryOpen(), StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("ahead")));
}

TEST_F(MigrateTest, AnotherHistoryIsRefused) {
  ASSERT_OK(Migrate(OptionsFor(url_)));
  ASSERT_OK(Sql(url_, "update halo_schema_migrations set name = '0001_other.sql'"));
  EXPECT_THAT(TryOpen(), StatusIs(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(Migrate(OptionsFor(url_)), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(MigrateTest, TheServingRoleGetsRowsAndNothingElse) {
  ASSERT_OK(SharedCluster().CreateRole("halo_app"));
  ASSERT_OK(Migrate(OptionsFor(url_), "halo_app"));
  const std::string app = support::WithRole(url_, "halo_app");
  EXPECT_OK(Open(conformance::Streams(), OptionsFor(app)));
  for (const char* sql :
       {"create table t (a int)", "update halo_journal set tx = 1", "delete from halo_epoch",
        "truncate halo_journal", "insert into halo_schema_migrations values (9, 'x', 1)",
        "alter table halo_journal add column c int", "drop table halo_journal"}) {
    EXPECT_THAT(Sql(app, sql), StatusIs(absl::StatusCode::kInternal)) << sql;
  }
  EXPECT_THAT(Migrate(OptionsFor(url_), "nobody_of_this_name"),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST_F(MigrateTest, TablesAreFoundWhereTheyAre) {
  ASSERT_OK(Sql(url_,
                "create schema \"odd \"\"name\"; create schema decoy;"
                "create table decoy.halo_journal (a int)"));
  const std::string with = url_ + "&options=-csearch_path%3D";
  ASSERT_OK(Migrate(OptionsFor(with + "%22odd%5C%20%22%22name%22")));
  EXPECT_OK(Open(conformance::Streams(), OptionsFor(with + "decoy")));
  ASSERT_OK_AND_ASSIGN(const std::string streams,
                       SqlValue(url_, "select count(*) from \"odd \"\"name\".halo_streams"));
  EXPECT_EQ(streams, "3");
}

TEST_F(MigrateTest, EveryTableAndColumnIsExplained) {
  ASSERT_OK(Migrate(OptionsFor(url_)));
  ASSERT_OK_AND_ASSIGN(
      const auto bare,
      Sql(url_,
          "select c.relname, a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid"
          " where c.relname ~ '^halo_' and c.relkind = 'r' and a.attnum > 0 and"
          " (col_description(c.oid, a.attnum) is null or obj_description(c.oid, 'pg_class') is"
          " null)"));
  EXPECT_THAT(bare, IsEmpty());
}

}  // namespace
}  // namespace engine::postgres
