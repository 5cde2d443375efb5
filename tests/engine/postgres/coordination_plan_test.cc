// Leases and key-value rows are found by their indexes, however few or many there are.

#include <gmock/gmock.h>

#include "engine/postgres/leases.h"
#include "tests/engine/postgres/plan.h"

namespace engine::postgres {
namespace {

using testing::HasSubstr;
using testing::Not;

class CoordinationPlanTest : public PostgresTest {
 protected:
  // As WriteOn runs it.
  absl::StatusOr<std::string> PlanOf(const Statement& statement, Params params) {
    Params settings;
    settings.Text("5000").Text("10000").Text(statements_.schema_path);
    std::vector<Step> first;
    first.push_back({statements_.settings, std::move(settings)});
    return postgres::PlanOf(url(), statements_, Pooler::kTransaction, std::move(first), statement,
                            std::move(params));
  }

  void ExpectIndexes() {
    const auto key = [] {
      Params params;
      params.Text("k");
      return params;
    };
    for (const Statement* statement : {&statements_.kv_get, &statements_.kv_lock,
                                       &statements_.kv_take, &statements_.kv_delete}) {
      ASSERT_OK_AND_ASSIGN(const std::string plan, PlanOf(*statement, key()));
      EXPECT_THAT(plan, HasSubstr("halo_kv_pkey")) << statement->sql;
      EXPECT_THAT(plan, Not(HasSubstr("Seq Scan on halo_kv"))) << statement->sql;
    }
    ASSERT_OK_AND_ASSIGN(const std::string sweep, PlanOf(statements_.kv_sweep, Params().Int64(9)));
    EXPECT_THAT(sweep, HasSubstr("Index Scan using halo_kv_expiry on halo_kv"));
    EXPECT_THAT(sweep, Not(HasSubstr("Seq Scan on halo_kv"))) << sweep;

    const std::vector<Fence> fences = {{"a", "h", 1}, {"b", "h", 2}};
    ASSERT_OK_AND_ASSIGN(const std::string lock,
                         PlanOf(statements_.fence_lock, FenceLockParams(fences)));
    EXPECT_THAT(lock, HasSubstr("halo_leases_pkey"));
    ASSERT_OK_AND_ASSIGN(const std::string judge,
                         PlanOf(statements_.fence_judge, FenceJudgeParams(fences)));
    EXPECT_THAT(judge, HasSubstr("halo_leases_pkey"));
  }

  const Statements statements_{"public"};
};

TEST_F(CoordinationPlanTest, EmptyTablesAreReadByTheirIndexes) {
  ExpectIndexes();
}

TEST_F(CoordinationPlanTest, FewAndManyRowsToo) {
  Run("insert into halo_kv select int8send(n), 'x', 0, now() + n * interval '1 second'"
      " from generate_series(1, 20) n;"
      "insert into halo_leases select 'l-' || n, 'h', 1, now() from generate_series(1, 5) n;"
      "analyze halo_kv; analyze halo_leases");
  ExpectIndexes();
  Run("insert into halo_kv select int8send(n), 'x', 0, now() + n * interval '1 second'"
      " from generate_series(21, 20000) n; analyze halo_kv; alter database " +
      Value("select current_database()") + " set enable_indexscan = off");
  ExpectIndexes();
}

}  // namespace
}  // namespace engine::postgres
