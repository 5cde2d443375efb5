#include "engine/postgres/query_times.h"

#include <gtest/gtest.h>

namespace engine::postgres {
namespace {

TEST(QueryTimesTest, StatementsAreToldByWhatTheyDo) {
  const auto kind = [](std::string_view sql) { return KindOfSql(sql).operation; };
  EXPECT_EQ(kind("select 1 from \"public\".halo_leases for no key update"), SqlOperation::kQuery);
  EXPECT_EQ(kind("with a as (insert into \"x\".halo_kv select 1) select"), SqlOperation::kCreate);
  EXPECT_EQ(kind("update \"x\".halo_kv set"), SqlOperation::kUpdate);
  EXPECT_EQ(kind("begin"), SqlOperation::kRaw);
  EXPECT_EQ(kSqlTableNames[KindOfSql("delete from halo_epoch e").table], "halo_epoch");
  EXPECT_EQ(KindOfSql("select 1").table, 0u);
}

TEST(QueryTimesTest, TimesAreCountedWithinTheirBounds) {
  QueryTimes times;
  EXPECT_TRUE(times.Collect().empty());
  const SqlKind kind{SqlOperation::kQuery, 1};
  times.Observe(kind, std::chrono::milliseconds(1));  // A bound belongs to its bucket.
  times.Observe(kind, std::chrono::milliseconds(700));
  times.Observe(kind, std::chrono::seconds(5));
  const auto all = times.Collect();
  ASSERT_EQ(all.size(), 1u);
  const decltype(all[0].within) expected = {1, 1, 1, 1, 1, 1, 1, 1, 2, 3};
  EXPECT_EQ(all[0].within, expected);
  EXPECT_NEAR(all[0].sum, 5.701, 1e-9);
}

TEST(QueryTimesTest, SlowStatementsAreToldOfOnceASecond) {
  QueryTimes times;
  EXPECT_TRUE(times.MayTellOfSlow(std::chrono::seconds(5)));
  EXPECT_FALSE(times.MayTellOfSlow(std::chrono::milliseconds(5999)));
  EXPECT_TRUE(times.MayTellOfSlow(std::chrono::seconds(6)));
}

}  // namespace
}  // namespace engine::postgres
