#include "api/resources/changes.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "schemas/streams.h"

namespace api {
namespace {

// More than this is not gathered for one page: a record may have a megabyte.
constexpr std::size_t kPageBytes = std::size_t{4} << 20;

// Empty: there is no row (any more).
absl::StatusOr<std::optional<engine::Record>> RowAt(engine::Journal& journal, std::string_view id,
                                                    engine::Position position,
                                                    engine::Deadline deadline) {
  ASSIGN_OR_RETURN(std::vector<engine::Record> rows,
                   journal.ReadStream(schemas::kResourcesStream, position, 1, deadline));
  if (rows.empty() || rows.front().position != position) {
    return std::nullopt;
  }
  engine::Record& row = rows.front();
  const bool is_right =
      row.key == id && row.checksum == engine::RowChecksum(row) && row.previous < row.position;
  if (!GUARD("history.row", is_right)) {
    return absl::DataLossError(absl::StrFormat("stream resources position %d is no record of %s",
                                               engine::Raw(position), id));
  }
  return std::move(row);
}

absl::StatusOr<engine::Position> FloorOf(engine::Journal& journal, engine::Deadline deadline) {
  ASSIGN_OR_RETURN(const std::vector<engine::StreamTail> tails, journal.Tails(deadline));
  const auto tail =
      std::ranges::find(tails, schemas::kResourcesStream, &engine::StreamTail::stream);
  return tail == tails.end() ? engine::Position::kBeforeFirst : tail->floor.position;
}

}  // namespace

absl::StatusOr<Changes> ReadChanges(engine::Journal& journal, std::string_view id,
                                    engine::Position from, int limit, engine::Deadline deadline) {
  Changes changes;
  changes.next = from;
  std::size_t bytes = 0;
  while (changes.next != engine::Position::kBeforeFirst) {
    if (changes.records.size() == static_cast<std::size_t>(limit) || bytes > kPageBytes) {
      return changes;
    }
    ASSIGN_OR_RETURN(auto row, RowAt(journal, id, changes.next, deadline));
    if (row) {
      changes.next = row->previous;
      bytes += row->payload.size();
      changes.records.push_back(*std::move(row));
      continue;
    }
    // Only compaction removes rows, and only below the floor.
    ASSIGN_OR_RETURN(changes.floor, FloorOf(journal, deadline));
    if (!GUARD("history.missing", changes.next < changes.floor)) {
      return changes.records.empty()
                 ? absl::NotFoundError("there is no such record")
                 : absl::DataLossError(absl::StrFormat("stream resources position %d is missing",
                                                       engine::Raw(changes.next)));
    }
    changes.next = engine::Position::kBeforeFirst;
  }
  if (changes.records.empty()) {
    return absl::NotFoundError("compaction took the record");
  }
  return changes;
}

}  // namespace api
