// SegmentFacts is what a segment comes to: enough to go on behind it, and to know where the rows of
// a position lie, without reading it.
//
// The file `sealed` keeps the facts of closed segments, so that opening a directory costs what was
// written last and not all that ever was. It is a help and no more: a segment that it does not tell
// of is read, and what it tells counts only for the very file that it was made of. When the segment
// is read in the end, its contents have to be what was told.
//
// Byte table and example: docs/formats/segment.md. Thread-safe for different objects; the functions
// of the file block on the disk.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/file/directory.h"
#include "engine/file/format.h"

namespace engine::file {

// Of a stream that has rows in the segment.
struct StreamFacts {
  StreamId stream = StreamId::kInvalid;
  Position first = Position::kBeforeFirst;
  Position last = Position::kBeforeFirst;
  std::uint64_t rows = 0;
  // Of the last row.
  Tx tx = Tx::kBeforeFirst;
  Timestamp at = {};
  Digest digest = Digest::kEmpty;
  friend bool operator==(const StreamFacts&, const StreamFacts&) = default;
};

struct SegmentFacts {
  SegmentId id = {};
  std::uint64_t marker = 0;  // Of its header.
  std::uint64_t bytes = 0;
  Tx last_tx = Tx::kBeforeFirst;
  FrameDigest digest = FrameDigest::kNone;  // Of the last frame.
  bool has_answers = false;
  std::vector<StreamFacts> streams = {};  // Ascending.
  friend bool operator==(const SegmentFacts&, const SegmentFacts&) = default;

  // Counts the next row; `position` is behind those of the stream that were counted.
  void Note(StreamId stream, Position position, Tx tx, Timestamp at, Digest digest);
  std::uint64_t rows() const;
  // Of the newest row.
  Timestamp at() const;
};

// The ends of the streams behind the segment, when `tails` are those before it.
void GoBehind(const SegmentFacts& segment, std::vector<StreamTail>& tails);

std::string EncodeSealed(std::span<const SegmentFacts> segments);
// Fails with kDataLoss (damage) or kFailedPrecondition (intact, of another version).
absl::StatusOr<std::vector<SegmentFacts>> DecodeSealed(std::string_view bytes);

// Empty when there is no file, and, with a warning, when it cannot be used: then all is read.
std::vector<SegmentFacts> ReadSealed(const Directory& directory);
// Fails with kUnavailable (nothing changed) or kInternal (a sync failed).
absl::Status WriteSealed(const Directory& directory, std::span<const SegmentFacts> segments);

}  // namespace engine::file
