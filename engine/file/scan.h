// ScanSegments reads the journal from front to back and hands out rows: the way of replays.

#pragma once

#include <memory>
#include <vector>

#include <absl/status/status.h>

#include "engine/file/directory.h"
#include "engine/file/floors.h"
#include "engine/file/format.h"

namespace engine::file {

// Where a scan goes.
struct ScanRange {
  std::vector<SegmentId> segments;       // In order.
  HeadMark end;                          // Of one of them: nothing behind it is read.
  std::shared_ptr<const Floors> floors;  // Dead rows are not handed out.
};

// Journal::Scan over the transactions of `range`, in the order of tx. Blocks on the disk. A frame
// that is not intact is kDataLoss with file and offset.
absl::Status ScanSegments(const Directory& directory, const ScanRange& range,
                          const ScanOptions& options, const RowSink& sink, Deadline deadline);

}  // namespace engine::file
