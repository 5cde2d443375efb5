// The hot statements walk the primary key, on an empty table and on a full, analysed one,
// whatever planner settings a role has.

#include "tests/engine/postgres/plan.h"

#include "engine/postgres/rows.h"

namespace engine::postgres {
namespace {

class PlanTest : public PostgresTest {
 protected:
  // As connections of either sort make it.
  absl::StatusOr<std::string> PlanOf(const Statement& statement, Params params, Pooler pooler) {
    Params pins;
    pins.Text(statements_.schema_path).Text("30000").Text("60000");
    std::vector<Step> first;
    if (pooler == Pooler::kTransaction) {
      first.push_back({statements_.pins, std::move(pins)});
    }
    return postgres::PlanOf(url(), statements_, pooler, std::move(first), statement,
                            std::move(params));
  }

  void ExpectPrimaryKeyOnly() {
    for (const Pooler pooler : {Pooler::kNone, Pooler::kTransaction}) {
      ASSERT_OK_AND_ASSIGN(
          const std::string news,
          PlanOf(statements_.news, NewsParams(conformance::FromTheStart(), 1000, 1000), pooler));
      ExpectWalk(news);
      ASSERT_OK_AND_ASSIGN(
          const std::string any,
          PlanOf(statements_.any_news, AnyNewsParams(conformance::FromTheStart()), pooler));
      ExpectWalk(any);
      ASSERT_OK_AND_ASSIGN(const std::string tails,
                           PlanOf(statements_.tails, TailsParams(conformance::Streams()), pooler));
      ExpectWalk(tails);
      EXPECT_NE(tails.find("Index Scan Backward"), std::string::npos) << tails;
    }
  }

  const Statements statements_{"public"};

 private:
  static void ExpectWalk(const std::string& plan) {
    EXPECT_NE(plan.find("halo_journal_pkey on halo_journal"), std::string::npos) << plan;
    for (const char* other : {"Seq Scan on halo_journal", "Bitmap", "Sort"}) {
      EXPECT_EQ(plan.find(other), std::string::npos) << plan;
    }
  }
};

TEST_F(PlanTest, AnEmptyJournalIsReadByItsPrimaryKey) {
  ExpectPrimaryKeyOnly();
}

TEST_F(PlanTest, ASmallAnalysedJournalToo) {
  Run("insert into halo_journal select 2, n, n, null, null, 0, now(), 0, 0, 'x'"
      " from generate_series(1, 20) n; analyze halo_journal");
  ExpectPrimaryKeyOnly();
}

TEST_F(PlanTest, AFullJournalWhoseRolesHaveOddSettingsToo) {
  Run("insert into halo_journal select 1 + n % 3, n, n, null, null, 0, now(), 0, 0, 'x'"
      " from generate_series(1, 50000) n; analyze halo_journal; alter database " +
      Value("select current_database()") + " set enable_indexscan = off");
  ExpectPrimaryKeyOnly();
}

TEST_F(PlanTest, ThePrimaryKeyIsTheOnlyIndex) {
  EXPECT_EQ(Value("select count(*) from pg_index where indrelid = 'halo_journal'::regclass"), "1");
}

}  // namespace
}  // namespace engine::postgres
