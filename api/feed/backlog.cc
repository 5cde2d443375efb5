#include "api/feed/backlog.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>

#include <absl/strings/str_format.h>

#include "api/dispatch/cursor.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"

namespace api {
namespace {

// Rows of one stream that are read at once.
constexpr int kReadRows = 512;
constexpr std::size_t kBacklogBytes = std::size_t{1} << 20;

auto OrderOf(const engine::Record& record) {
  return std::make_tuple(record.tx, record.stream, record.position);
}

// What is read of one stream.
struct Part {
  std::vector<engine::Record> rows;
  bool is_cut = false;  // There is more behind the last row.
};

absl::Status CheckRows(const std::vector<engine::Record>& rows, const engine::StreamCursor& after) {
  engine::StreamCursor at = after;
  for (const engine::Record& row : rows) {
    if (row.position != engine::Next(at.position)) {
      return absl::OutOfRangeError("the stream was compacted meanwhile");
    }
    if (!GUARD("watch.row", row.checksum == engine::RowChecksum(row))) {
      return absl::DataLossError(absl::StrFormat(
          "stream %d position %d is damaged", engine::Raw(row.stream), engine::Raw(row.position)));
    }
    if (row.digest != engine::ChainDigest(at.digest, row.checksum)) {
      return absl::FailedPreconditionError("the history went another way");
    }
    at = {row.stream, row.position, row.digest};
  }
  return absl::OkStatus();
}

// Up to `end`, which is of one cut with the ends of all other streams: what came later may belong
// behind rows that another stream was too early to show.
absl::StatusOr<Part> ReadPart(engine::Journal& journal, const engine::StreamCursor& after,
                              engine::Position end, engine::Deadline deadline) {
  Part part;
  if (after.position >= end) {
    return part;
  }
  ASSIGN_OR_RETURN(part.rows, journal.ReadStream(after.stream, engine::Next(after.position),
                                                 kReadRows, deadline));
  std::erase_if(part.rows, [&](const engine::Record& row) {
    return !GUARD("watch.cut", row.position <= end);
  });
  if (part.rows.empty()) {
    return absl::OutOfRangeError("the stream was compacted meanwhile");
  }
  RETURN_IF_ERROR(CheckRows(part.rows, after));
  part.is_cut = part.rows.back().position < end;
  return part;
}

// As many of the rows, which are in order, as are known to follow each other, within the bound.
void KeepFirst(std::vector<engine::Record>& rows, const std::vector<engine::Record>& last_ones) {
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    bytes += engine::RowCost(rows[i].key.size(), rows[i].payload.size());
    const bool ends_a_part = std::ranges::any_of(
        last_ones, [&](const engine::Record& last) { return OrderOf(last) == OrderOf(rows[i]); });
    if (bytes > kBacklogBytes || !GUARD("watch.merge", !ends_a_part)) {
      rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(i) + 1, rows.end());
      return;
    }
  }
}

}  // namespace

absl::StatusOr<std::vector<engine::Record>> ReadBacklog(engine::Journal& journal,
                                                        const engine::Cursors& after,
                                                        engine::Deadline deadline) {
  RETURN_IF_ERROR(CheckHistory(journal, after, deadline));
  ASSIGN_OR_RETURN(const std::vector<engine::StreamTail> tails, journal.Tails(deadline));
  std::vector<engine::Record> rows;
  std::vector<engine::Record> last_ones;  // Of the parts that are cut.
  for (const engine::StreamCursor& cursor : after) {
    const auto tail = std::ranges::find(tails, cursor.stream, &engine::StreamTail::stream);
    ASSIGN_OR_RETURN(Part part, ReadPart(journal, cursor, tail->position, deadline));
    if (part.is_cut) {
      last_ones.push_back(part.rows.back());
    }
    std::ranges::move(part.rows, std::back_inserter(rows));
  }
  std::ranges::sort(rows, [](const engine::Record& a, const engine::Record& b) {
    return OrderOf(a) < OrderOf(b);
  });
  KeepFirst(rows, last_ones);
  return rows;
}

absl::StatusOr<std::vector<BacklogRow>> ReadBacklogWithStates(engine::Journal& journal,
                                                              const engine::Cursors& after,
                                                              engine::Deadline deadline) {
  ASSIGN_OR_RETURN(std::vector<engine::Record> records, ReadBacklog(journal, after, deadline));
  std::vector<BacklogRow> rows;
  for (engine::Record& record : records) {
    engine::Payload before;
    if ((record.flags & engine::kTombstone) != 0 &&
        record.previous != engine::Position::kBeforeFirst) {
      ASSIGN_OR_RETURN(const std::vector<engine::Record> found,
                       journal.ReadStream(record.stream, record.previous, 1, deadline));
      if (!found.empty() && found.front().key == record.key) {
        before = found.front().payload;
      }
    }
    rows.push_back({std::move(record), std::move(before)});
  }
  return rows;
}

}  // namespace api
