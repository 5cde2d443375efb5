#include "engine/postgres/query_times.h"

#include <algorithm>

namespace engine::postgres {
namespace {

bool Contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::size_t TableOf(std::string_view sql) {
  const std::size_t begin = sql.find("halo_");
  if (begin == std::string_view::npos) {
    return 0;
  }
  const std::string_view rest = sql.substr(begin);
  const std::string_view name =
      rest.substr(0, rest.find_first_not_of("abcdefghijklmnopqrstuvwxyz_"));
  const auto* const found = std::ranges::find(kSqlTableNames, name);
  return found == std::end(kSqlTableNames)
             ? 0
             : static_cast<std::size_t>(found - std::begin(kSqlTableNames));
}

// A statement that writes is told by its quoted schema: `for no key update` is none.
SqlOperation OperationOf(std::string_view sql) {
  if (Contains(sql, "insert into")) {
    return SqlOperation::kCreate;
  }
  if (Contains(sql, "delete from")) {
    return SqlOperation::kDelete;
  }
  if (Contains(sql, "update \"") || Contains(sql, "update halo_")) {
    return SqlOperation::kUpdate;
  }
  return SqlOperation::kQuery;
}

}  // namespace

SqlKind KindOfSql(std::string_view sql) {
  const bool is_lock = Contains(sql, "pg_advisory_xact_lock");
  const bool has_rows = sql.starts_with("select") || sql.starts_with("with") ||
                        sql.starts_with("insert") || sql.starts_with("update") ||
                        sql.starts_with("delete");
  const std::size_t table = TableOf(sql);
  if (is_lock || !has_rows || table == 0) {
    return {};
  }
  return {OperationOf(sql), table};
}

void QueryTimes::Observe(SqlKind kind, Duration time) {
  Cell& cell = cells_[static_cast<std::size_t>(kind.operation)][kind.table];
  const double seconds = std::chrono::duration<double>(time).count();
  const auto bound = std::ranges::lower_bound(kBounds, seconds);
  ++cell.counts[static_cast<std::size_t>(bound - std::begin(kBounds))];
  cell.micros += static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(time).count());
}

void QueryTimes::CountFailure(SqlOperation operation, SqlFailure failure) {
  ++failures_[static_cast<std::size_t>(operation)][static_cast<std::size_t>(failure)];
}

std::vector<QueryTimes::Series> QueryTimes::Collect() const {
  std::vector<Series> all;
  for (std::size_t operation = 0; operation < cells_.size(); ++operation) {
    for (std::size_t table = 0; table < cells_[operation].size(); ++table) {
      const Cell& cell = cells_[operation][table];
      Series series{{static_cast<SqlOperation>(operation), table}, {}, 0};
      std::uint64_t count = 0;
      for (std::size_t i = 0; i < cell.counts.size(); ++i) {
        count += cell.counts[i].load(std::memory_order_relaxed);
        series.within[i] = count;
      }
      series.sum = static_cast<double>(cell.micros.load(std::memory_order_relaxed)) / 1e6;
      if (count > 0) {
        all.push_back(series);
      }
    }
  }
  return all;
}

std::uint64_t QueryTimes::failures(SqlOperation operation, SqlFailure failure) const {
  return failures_[static_cast<std::size_t>(operation)][static_cast<std::size_t>(failure)];
}

bool QueryTimes::MayTellOfSlow(Duration now) {
  constexpr std::int64_t kPause = 1'000'000;
  const std::int64_t micros = std::chrono::duration_cast<std::chrono::microseconds>(now).count();
  std::int64_t told = told_at_.load(std::memory_order_relaxed);
  return (told == 0 || micros - told >= kPause) && told_at_.compare_exchange_strong(told, micros);
}

}  // namespace engine::postgres
