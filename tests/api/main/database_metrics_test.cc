#include "api/main/database_metrics.h"

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
