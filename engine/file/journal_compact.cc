// How FileJournal is compacted.

#include <algorithm>
#include <utility>

#include "engine/base/guard.h"
#include "engine/base/logging.h"
#include "engine/base/status_macros.h"
#include "engine/compaction_check.h"
#include "engine/file/damage.h"
#include "engine/file/journal.h"

namespace engine::file {

absl::StatusOr<Floor> FileJournal::Compact(const CompactionStep& step, Deadline deadline) {
  if (writing_.log == nullptr) {
    return absl::UnavailableError("the journal is open for reading only");
  }
  if (!compaction_.Take(deadline)) {
    return absl::DeadlineExceededError("waiting for another compaction");
  }
  absl::StatusOr<Floor> floor = CompactInTurn(step);
  if (floor.ok()) {
    if (const absl::Status rewritten = RewriteSparsest(); absl::IsInternal(rewritten)) {
      floor = rewritten;
    } else if (!rewritten.ok()) {
      // The step is done; the room that it left is gained another time.
      Log(Severity::kWarning, "a segment could not be written anew",
          {{"directory", directory_->path()}, {"why", MessageOf(rewritten)}});
    }
  }
  compaction_.Leave();
  if (absl::IsInternal(floor.status())) {
    Stop(floor.status());
    return absl::UnavailableError(MessageOf(floor.status()));
  }
  return floor;
}

// The step is done when the list of floors is in its place: until then the old one holds, and the
// rows that are removed still lie where they were.
absl::StatusOr<Floor> FileJournal::CompactInTurn(const CompactionStep& step) {
  RETURN_IF_ERROR(Fatal());
  const State::Cut cut = state_.Now();
  const auto tail = std::ranges::find(cut.tails, step.stream, &StreamTail::stream);
  RETURN_IF_ERROR(
      CheckCompaction(catalogue(), tail == cut.tails.end() ? StreamTail() : *tail, step));
  ASSIGN_OR_RETURN(const std::uint64_t sum, SumOf(step));
  std::vector<Position> removed(step.remove.size());
  std::ranges::transform(step.remove, removed.begin(), &RowKey::position);
  const Floor floor = FloorAfter(step, removed.size(), sum);
  Floors floors = cut.floors->Raised(step.stream, floor, removed);
  RETURN_IF_ERROR(floors.Write(*directory_));
  state_.Compact(step.stream, removed, std::move(floors));
  return floor;
}

// Gives the room of dead rows back, one segment at a time. At every moment the directory holds the
// old segment or the new one, and a list of floors that is right for both.
absl::Status FileJournal::RewriteSparsest() {
  const std::optional<SegmentId> old = state_.Sparsest();
  if (!old.has_value()) {
    return absl::OkStatus();
  }
  // A mark in the segment would not be found in the new one.
  RETURN_IF_ERROR(writing_.head->Settle(state_.End()));
  const std::shared_ptr<const Floors> floors = state_.Now().floors;
  ASSIGN_OR_RETURN(const RewrittenSegment rewritten,
                   RewriteSegment(*directory_, *old, *floors, *options_.random));
  Floors left = floors->Without(rewritten.gone);
  const bool replaced = state_.Replace(rewritten, left);
  // Whoever still wants the old file finds it gone, and looks again.
  const SegmentId useless = replaced ? *old : rewritten.facts.id;
  WantMark();  // And with it `sealed`.
  if (directory_->disk().Remove(directory_->fd(), SegmentName(useless)) != 0) {
    return DiskError("removing " + SegmentName(useless));
  }
  return replaced ? left.Write(*directory_) : absl::OkStatus();
}

// Of the checksums of the rows that the step removes.
absl::StatusOr<std::uint64_t> FileJournal::SumOf(const CompactionStep& step) const {
  RowReader reader(*directory_);
  std::uint64_t sum = 0;
  std::uint64_t found = 0;
  for (const RowKey& removed : step.remove) {
    ASSIGN_OR_RETURN(const std::vector<Place> place,
                     Places(step.stream, removed.position, removed.position, 1));
    if (place.empty()) {
      continue;
    }
    ASSIGN_OR_RETURN(const RowView row, reader.Read(place.front()));
    if (row.stream == step.stream && row.position == removed.position && row.key == removed.key) {
      ++found;
      sum += row.checksum;
    }
  }
  if (!GUARD("file.removed-rows", found == step.remove.size())) {
    return RowsAreMissing(step, found);
  }
  return sum;
}

}  // namespace engine::file
