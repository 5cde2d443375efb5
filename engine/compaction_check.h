// CheckCompaction: what every backend demands of a step of compaction before it takes it.

#pragma once

#include <cstdint>

#include <absl/status/status.h>

#include "engine/journal.h"

namespace engine {

// Judges `step` against the stream as it is.
//
// Fails with
//   kInvalidArgument  a stream that has no keys, is chained or is not in the catalogue; a floor
//                     that would not rise or not stay below the last row; rows to be removed that
//                     are not below the new floor, not ascending or doubled
//   kAborted          the floor is not the one that the step starts from: another one was there
absl::Status CheckCompaction(const Catalogue& catalogue, const StreamTail& tail,
                             const CompactionStep& step);

// The floor after `step` removed `rows` rows whose checksums come to `sum`.
Floor FloorAfter(const CompactionStep& step, std::uint64_t rows, std::uint64_t sum);

// kDataLoss: fewer rows were found than the step removes.
absl::Status RowsAreMissing(const CompactionStep& step, std::uint64_t found);

}  // namespace engine
