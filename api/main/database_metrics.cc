#include "api/main/database_metrics.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "api/server/version.h"

namespace api {
namespace {

using engine::postgres::DbError;
using engine::postgres::kDbErrorNames;
using engine::postgres::kSqlFailureNames;
using engine::postgres::kSqlOperationNames;
using engine::postgres::kSqlTableNames;
using engine::postgres::QueryTimes;
using engine::postgres::SqlFailure;
using engine::postgres::SqlOperation;
using engine::postgres::Stats;

using Labels = std::vector<std::pair<std::string, std::string>>;

// With the labels that every metric of the resource API has.
Labels With(Labels labels) {
  labels.emplace_back("component", "api");
  labels.emplace_back("version", kVersion);
  return labels;
}

void AddQueries(const QueryTimes& queries, Samples& samples) {
  for (const QueryTimes::Series& series : queries.Collect()) {
    Sample sample{
        "hyperfleet_db_query_duration_seconds",
        "How long statements took, each from the answer of the one before it.",
        MetricType::kHistogram, series.sum,
        With({{"operation",
               std::string(kSqlOperationNames[static_cast<std::size_t>(series.kind.operation)])},
              {"table", std::string(kSqlTableNames[series.kind.table])}})};
    for (std::size_t i = 0; i < series.within.size(); ++i) {
      const bool is_last = i == std::size(QueryTimes::kBounds);
      sample.buckets.emplace_back(
          is_last ? std::numeric_limits<double>::infinity() : QueryTimes::kBounds[i],
          series.within[i]);
    }
    samples.push_back(std::move(sample));
  }
  for (std::size_t operation = 0; operation < std::size(kSqlOperationNames); ++operation) {
    for (std::size_t failure = 0; failure < std::size(kSqlFailureNames); ++failure) {
      const auto count =
          queries.failures(static_cast<SqlOperation>(operation), static_cast<SqlFailure>(failure));
      if (count > 0) {
        samples.push_back({"hyperfleet_db_errors_total", "Statements that failed.",
                           MetricType::kCounter, static_cast<double>(count),
                           With({{"operation", std::string(kSqlOperationNames[operation])},
                                 {"error_type", std::string(kSqlFailureNames[failure])}})});
      }
    }
  }
}

}  // namespace

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
  samples.push_back({"hyperfleet_db_connections_open", "Open connections.", MetricType::kGauge,
                     std::max(0.0, open), With({})});
  samples.push_back({"hyperfleet_db_connections_in_use", "Connections that somebody uses.",
                     MetricType::kGauge, std::max(0.0, used), With({})});
  AddQueries(stats.queries, samples);
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
