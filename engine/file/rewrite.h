// RewriteSegment takes the dead rows out of a closed segment: it writes the segment anew, under the
// next generation of its name, and leaves the old file where it is.
//
// A frame of the new file stands for the transactions from `first_tx` to `tx`, of which all but the
// last have no row left, and carries the digest of the frame that was there, so the chain of frames
// through the segment stays what it was.

#pragma once

#include <vector>

#include <absl/status/statusor.h>

#include "engine/base/random.h"
#include "engine/file/directory.h"
#include "engine/file/floors.h"
#include "engine/file/sealed.h"

namespace engine::file {

struct MovedRow {
  StreamId stream = StreamId::kInvalid;
  Position position = Position::kBeforeFirst;
  std::uint32_t offset = 0;  // In the new file.
};

struct RewrittenSegment {
  SegmentFacts facts;
  std::vector<MovedRow> rows;
  std::vector<StreamFloor> gone;  // The dead rows that it does not have any more.
};

// Thread-safe for different segments. Blocks on the disk.
//
// Fails with kDataLoss when the segment is damaged, with kUnavailable when the disk refused
// (nothing changed), with kInternal when a sync failed.
absl::StatusOr<RewrittenSegment> RewriteSegment(const Directory& directory, SegmentId segment,
                                                const Floors& floors, Random& random);

}  // namespace engine::file
