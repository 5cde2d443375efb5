// Recovery reads a data directory from the first byte to the last, once, and judges it.
//
// What compaction removed is not shown; what it left has to be what the floors prove.
//
// Only the last frame of the last segment may be torn, and only when nothing that was written
// later follows it and no head mark lies behind it. All else that does not fit is damage and is
// refused with kDataLoss, naming file and byte offset.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/answer_table.h"
#include "engine/file/directory.h"
#include "engine/file/floors.h"
#include "engine/file/format.h"
#include "engine/file/index.h"

namespace engine::file {

// How much of a segment is of no use any more.
struct SegmentCounts {
  std::uint64_t rows = 0;  // Dead ones included.
  std::uint64_t dead = 0;
};

// What a directory holds, up to its last whole frame.
struct Contents {
  std::vector<SegmentId> segments;    // Ascending; may be empty.
  std::vector<SegmentCounts> counts;  // Of each of them.
  Index index;
  std::vector<StreamTail> tails;  // Without `last_payload`.
  Floors floors;
  SegmentHeader last_segment;
  HeadMark end;         // Where the next frame goes.
  AnswerTable answers;  // Of the last kAnswerLifetime of the journal.
  std::uint64_t torn_bytes = 0;
  std::string torn_why;
};

// Reads and judges; changes nothing. Blocks while every segment is read.
absl::StatusOr<Contents> ReadContents(const Directory& directory, const Catalogue& catalogue,
                                      const HeadMark& mark, const Floors& floors);

// Makes what ReadContents found durable: cuts a torn frame off, and writes everything after
// `mark` once more in place and syncs it. The process before us may have died of a failed sync,
// and then the disk need not hold what can be read from memory.
absl::Status MakeDurable(const Directory& directory, const Contents& contents,
                         const HeadMark& mark);

// Writes [begin, end) of a file once more in place and syncs it.
absl::Status WriteAgain(const Directory& directory, int fd, std::uint64_t begin, std::uint64_t end);

}  // namespace engine::file
