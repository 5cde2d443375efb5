// ScanSegments reads the journal from front to back and hands out rows: the way of replays.

#pragma once

#include <absl/status/status.h>

#include "engine/file/directory.h"
#include "engine/file/state.h"

namespace engine::file {

// Journal::Scan over the transactions of `cut`, in the order of tx, beginning with segment number
// `first_segment`. Blocks on the disk. A frame that is not intact is kDataLoss with file and
// offset.
absl::Status ScanSegments(const Directory& directory, const State::Cut& cut,
                          std::size_t first_segment, const ScanOptions& options,
                          const RowSink& sink, Deadline deadline);

}  // namespace engine::file
