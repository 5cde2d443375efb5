#include "engine/postgres/compaction.h"

#include <string>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "engine/compaction_check.h"
#include "engine/postgres/nested_limits.h"
#include "engine/postgres/rows.h"
#include "engine/postgres/server_facts.h"

namespace engine::postgres {
namespace {

// Compaction is never in a hurry.
constexpr char kLockTimeout[] = "5000";

std::int64_t Signed(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}
std::int32_t Signed(StreamId stream) {
  return static_cast<std::int32_t>(stream);
}

Params StreamParam(StreamId stream) {
  Params params;
  params.Int32(Signed(stream));
  return params;
}

Params RemoveParams(const CompactionStep& step) {
  ArrayParam positions(kInt8Oid, step.remove.size());
  ArrayParam keys(kByteaOid, step.remove.size());
  for (const RowKey& row : step.remove) {
    positions.AddInt64(Signed(Raw(row.position)));
    keys.AddBytes(row.key);
  }
  Params params;
  params.Int32(Signed(step.stream)).Array(std::move(positions)).Array(std::move(keys));
  return params;
}

Params RaiseParams(StreamId stream, const Floor& floor) {
  Params params;
  params.Int32(Signed(stream))
      .Int64(Signed(Raw(floor.position)))
      .Int64(Signed(Raw(floor.digest)))
      .Int64(Signed(floor.rows))
      .Int64(Signed(floor.sum));
  return params;
}

absl::Status CheckStep(const Catalogue& catalogue, const CompactionStep& step,
                       const Result& locked) {
  StreamTail tail;
  tail.stream = step.stream;
  if (locked.rows() == 1) {
    tail.floor = FloorAt(locked, 0, kFloor);
    if (!locked.IsNull(0, kFloorEnd)) {
      tail.position = Position{static_cast<std::uint64_t>(locked.Int64(0, kFloorEnd))};
    }
  }
  return CheckCompaction(catalogue, tail, step);
}

}  // namespace

absl::StatusOr<Floor> CompactOn(Connection& connection, const Statements& statements,
                                const Catalogue& catalogue, const CompactionStep& step,
                                Deadline deadline) {
  Params settings;
  const Limits limits = LimitsFor(deadline);
  settings.Text(kLockTimeout).Text(limits.StatementText()).Text(statements.schema_path);
  Params left;
  left.Int64(limits.statement_ms);
  const RunOutcome removed = connection.Run({{statements.begin, {}},
                                             {statements.settings, std::move(settings)},
                                             {statements.locked, std::move(left)},
                                             {statements.lock_floor, StreamParam(step.stream)},
                                             {statements.remove, RemoveParams(step)}},
                                            deadline);
  RETURN_IF_ERROR(removed.status);
  RETURN_IF_ERROR(CheckStillSynchronous(connection, removed.results[1]));
  RETURN_IF_ERROR(CheckStep(catalogue, step, removed.results[3]));
  const Result& checksums = removed.results[4];
  const auto found = static_cast<std::uint64_t>(checksums.rows());
  if (!GUARD("postgres.removed-rows", found == step.remove.size())) {
    return RowsAreMissing(step, found);
  }
  std::uint64_t sum = 0;
  for (int row = 0; row < checksums.rows(); ++row) {
    sum += static_cast<std::uint64_t>(checksums.Int64(row, 0));
  }
  const Floor floor = FloorAfter(step, found, sum);
  const RunOutcome raised = connection.Run(
      {{statements.raise_floor, RaiseParams(step.stream, floor)}, {statements.commit, {}}},
      deadline);
  RETURN_IF_ERROR(raised.status);
  if (raised.results[0].tag() != "UPDATE 1" || raised.results[1].tag() != "COMMIT") {
    return absl::UnavailableError(absl::StrFormat(
        "the database answered the end of a compaction with %s and %s",
        std::string(raised.results[0].tag()), std::string(raised.results[1].tag())));
  }
  return floor;
}

}  // namespace engine::postgres
