#include "api/main/database_metrics.h"

#include <algorithm>
#include <iterator>
#include <string>

namespace api {

using engine::postgres::DbError;
using engine::postgres::kDbErrorNames;
using engine::postgres::Stats;

void AddDatabase(const Stats& stats, Samples& samples) {
  for (std::size_t i = 0; i < std::size(kDbErrorNames); ++i) {
    samples.push_back({"halo_db_errors_total",
                       "Statements and connects that failed, by kind.",
                       MetricType::kCounter,
                       static_cast<double>(stats.errors(static_cast<DbError>(i))),
                       {{"kind", std::string(kDbErrorNames[i])}}});
  }
  const auto used = static_cast<double>(stats.used_connections.load());
  const auto open = static_cast<double>(stats.open_connections.load());
  const auto add_open = [&samples](std::string_view state, double value) {
    samples.push_back({"halo_db_open_connections",
                       "Open connections, by whether somebody uses them.",
                       MetricType::kGauge,
                       std::max(0.0, value),
                       {{"state", std::string(state)}}});
  };
  add_open("idle", open - used);
  add_open("used", used);
  samples.push_back({"halo_db_connects_total",
                     "Connections made.",
                     MetricType::kCounter,
                     static_cast<double>(stats.connects.load()),
                     {}});
  double synchronous = 0;
  for (const auto& [name, value] : stats.facts()) {
    synchronous = name == "replication" && value == "synchronous" ? 1 : synchronous;
  }
  samples.push_back({"halo_db_synchronous",
                     "1 when commits wait for a standby, so that a failover loses none.",
                     MetricType::kGauge,
                     synchronous,
                     {}});
}

}  // namespace api
