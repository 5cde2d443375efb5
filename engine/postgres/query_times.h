// QueryTimes: how long statements took and how they failed, by what they do and to which table.
//
// Thread-safe; never blocks.

#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"

namespace engine::postgres {

enum class SqlOperation { kCreate, kQuery, kUpdate, kDelete, kRaw };
inline constexpr std::string_view kSqlOperationNames[] = {"create", "query", "update", "delete",
                                                          "raw"};

enum class SqlFailure { kConstraint, kConnection, kTimeout, kOther, kCommit, kRollback };
inline constexpr std::string_view kSqlFailureNames[] = {
    "constraint_violation", "connection_error", "timeout", "other",
    "commit_failed",        "rollback_failed"};

// The first table that a statement names; "" for none of ours.
inline constexpr std::string_view kSqlTableNames[] = {
    "",           "halo_journal",   "halo_streams", "halo_idempotency",      "halo_kv",
    "halo_epoch", "halo_heartbeat", "halo_leases",  "halo_schema_migrations"};

struct SqlKind {
  SqlOperation operation = SqlOperation::kRaw;
  std::size_t table = 0;  // Of kSqlTableNames.
};

// BEGIN, COMMIT, settings and locks are kRaw.
SqlKind KindOfSql(std::string_view sql);

class QueryTimes {
 public:
  // Upper bounds, in seconds.
  static constexpr double kBounds[] = {0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1};

  struct Series {
    SqlKind kind;
    // How many were within each bound, the smaller ones included; the last is all of them.
    std::array<std::uint64_t, std::size(kBounds) + 1> within{};
    double sum = 0;  // Seconds.
  };

  void Observe(SqlKind kind, Duration time);
  void CountFailure(SqlOperation operation, SqlFailure failure);

  // Of the kinds that were seen.
  std::vector<Series> Collect() const;
  std::uint64_t failures(SqlOperation operation, SqlFailure failure) const;

  // At most one line a second about slow statements. `now` since boot.
  bool MayTellOfSlow(Duration now);

 private:
  struct Cell {
    std::array<std::atomic<std::uint64_t>, std::size(kBounds) + 1> counts{};  // Each its own.
    std::atomic<std::uint64_t> micros{0};
  };

  std::array<std::array<Cell, std::size(kSqlTableNames)>, std::size(kSqlOperationNames)> cells_;
  std::array<std::array<std::atomic<std::uint64_t>, std::size(kSqlFailureNames)>,
             std::size(kSqlOperationNames)>
      failures_{};
  std::atomic<std::int64_t> told_at_{0};  // Microseconds since boot.
};

}  // namespace engine::postgres
