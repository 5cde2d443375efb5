#include "engine/compaction_check.h"

#include <algorithm>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"

namespace engine {
namespace {

absl::Status Refuse(const CompactionStep& step, std::string_view why) {
  return absl::InvalidArgumentError(absl::StrFormat("stream %d cannot be compacted to %d: %s",
                                                    Raw(step.stream), Raw(step.to), why));
}

}  // namespace

absl::Status CheckCompaction(const Catalogue& catalogue, const StreamTail& tail,
                             const CompactionStep& step) {
  const auto spec = std::ranges::find(catalogue, step.stream, &StreamSpec::id);
  if (spec == catalogue.end() || !GUARD("compaction.keyed", spec->keyed && !spec->chained)) {
    return Refuse(step, "it keeps every record");
  }
  if (step.to <= step.from.position || step.to >= tail.position) {
    return Refuse(step, "its floor only rises, and stays below its end");
  }
  Position before = Position::kBeforeFirst;
  for (const RowKey& row : step.remove) {
    if (row.position <= before || row.position >= step.to) {
      return Refuse(step, "rows to be removed are not below the floor, or not in order");
    }
    before = row.position;
  }
  if (!GUARD("compaction.floor", step.from == tail.floor)) {
    return absl::AbortedError(absl::StrFormat("stream %d: the floor is at %d, not at %d",
                                              Raw(step.stream), Raw(tail.floor.position),
                                              Raw(step.from.position)));
  }
  return absl::OkStatus();
}

Floor FloorAfter(const CompactionStep& step, std::uint64_t rows, std::uint64_t sum) {
  return {.position = step.to,
          .digest = step.digest,
          .rows = step.from.rows + step.rows - rows,
          .sum = step.from.sum + step.sum - sum};
}

absl::Status RowsAreMissing(const CompactionStep& step, std::uint64_t found) {
  return absl::DataLossError(absl::StrFormat(
      "stream %d: of %d replaced rows up to position %d only %d are there under their keys",
      Raw(step.stream), step.remove.size(), Raw(step.to), found));
}

}  // namespace engine
