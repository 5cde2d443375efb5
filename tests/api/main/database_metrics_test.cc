#include "api/main/database_metrics.h"

#include <algorithm>
#include <map>

#include <gtest/gtest.h>

namespace api {
namespace {

using engine::postgres::DbError;
using engine::postgres::Stats;

// By `name` or `name{value of the label}`.
std::map<std::string, double> Shown(const Stats& stats) {
  Samples samples;
  AddDatabase(stats, samples);
  std::map<std::string, double> shown;
  for (const Sample& sample : samples) {
    const std::string label = sample.labels.empty() ? "" : "{" + sample.labels[0].second + "}";
    shown[sample.name + label] = sample.value;
  }
  return shown;
}

TEST(DatabaseMetricsTest, ErrorsAreByKindAndConnectionsByUse) {
  Stats stats;
  stats.CountError(DbError::kTimeout);
  stats.CountError(DbError::kTimeout);
  stats.CountError(DbError::kConnect);
  stats.open_connections = 7;
  stats.used_connections = 3;
  stats.connects = 9;
  const auto shown = Shown(stats);
  EXPECT_EQ(shown.at("halo_db_errors_total{timeout}"), 2);
  EXPECT_EQ(shown.at("halo_db_errors_total{connect}"), 1);
  EXPECT_EQ(shown.at("halo_db_errors_total{lost}"), 0);
  EXPECT_EQ(shown.at("halo_db_open_connections{used}"), 3);
  EXPECT_EQ(shown.at("halo_db_open_connections{idle}"), 4);
  EXPECT_EQ(shown.at("halo_db_connects_total"), 9);
  EXPECT_EQ(stats.errors(), 3U);
}

const Sample* Find(const Samples& samples, const std::string& name) {
  const auto found = std::ranges::find(samples, name, &Sample::name);
  return found == samples.end() ? nullptr : &*found;
}

TEST(DatabaseMetricsTest, StatementsAreShownByOperationAndTable) {
  Stats stats;
  const auto insert = engine::postgres::KindOfSql("insert into \"public\".halo_journal select");
  stats.queries.Observe(insert, std::chrono::microseconds(900));
  stats.queries.Observe(insert, std::chrono::milliseconds(30));
  stats.queries.Observe(insert, std::chrono::seconds(2));
  stats.queries.CountFailure(insert.operation, engine::postgres::SqlFailure::kConstraint);
  stats.open_connections = 7;
  stats.used_connections = 3;
  Samples samples;
  AddDatabase(stats, samples);
  const Sample* query = Find(samples, "hyperfleet_db_query_duration_seconds");
  ASSERT_NE(query, nullptr);
  EXPECT_EQ(query->labels[0], (std::pair<std::string, std::string>("operation", "create")));
  EXPECT_EQ(query->labels[1], (std::pair<std::string, std::string>("table", "halo_journal")));
  EXPECT_EQ(query->buckets.front(), (std::pair<double, std::uint64_t>(0.001, 1)));
  EXPECT_EQ(query->buckets[4], (std::pair<double, std::uint64_t>(0.05, 2)));
  EXPECT_EQ(query->buckets.back().second, 3U);
  EXPECT_NEAR(query->value, 2.0309, 1e-6);
  const Sample* error = Find(samples, "hyperfleet_db_errors_total");
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(error->labels[1],
            (std::pair<std::string, std::string>("error_type", "constraint_violation")));
  EXPECT_EQ(Find(samples, "hyperfleet_db_connections_open")->value, 7);
  EXPECT_EQ(Find(samples, "hyperfleet_db_connections_in_use")->value, 3);
}

TEST(DatabaseMetricsTest, WhetherCommitsWaitForAStandbyIsShown) {
  Stats stats;
  EXPECT_EQ(Shown(stats).at("halo_db_synchronous"), 0);
  stats.SetFacts({{"replication", "none or asynchronous"}});
  EXPECT_EQ(Shown(stats).at("halo_db_synchronous"), 0);
  stats.SetFacts({{"replication", "synchronous"}});
  EXPECT_EQ(Shown(stats).at("halo_db_synchronous"), 1);
}

}  // namespace
}  // namespace api
