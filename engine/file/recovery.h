// Recovery reads a data directory and judges it: from the first byte to the last, but for the
// closed segments of which `sealed` tells what they come to (sealed.h). Those are read and judged
// when somebody asks for their rows.
//
// What compaction removed is not shown; what it left has to be what the floors prove.
//
// Only the last frame of the last segment may be torn, and only when nothing that was written
// later follows it and no head mark lies behind it. All else that does not fit is damage and is
// refused with kDataLoss, naming file and byte offset.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/answer_table.h"
#include "engine/file/directory.h"
#include "engine/file/floors.h"
#include "engine/file/format.h"
#include "engine/file/index.h"
#include "engine/file/sealed.h"

namespace engine::file {

// What a directory holds, up to its last whole frame.
struct Contents {
  std::vector<SegmentId> segments;  // Ascending; may be empty.
  std::vector<SegmentFacts> facts;  // Of each of them.
  std::vector<std::uint64_t> dead;  // How many rows of each are of no use any more.
  bool is_sealed = false;           // `sealed` says what it should.
  Index index;
  std::vector<StreamTail> tails;  // Without `last_payload`.
  Floors floors;
  SegmentHeader last_segment;
  HeadMark end;         // Where the next frame goes.
  AnswerTable answers;  // Of the last kAnswerLifetime of the journal.
  std::uint64_t torn_bytes = 0;
  std::string torn_why;
};

// Reads and judges; changes nothing. Blocks while every segment that `sealed` does not tell of is
// read. What a floor proves of rows that are not read is left to who reads them.
absl::StatusOr<Contents> ReadContents(const Directory& directory, const Catalogue& catalogue,
                                      const HeadMark& mark, const Floors& floors,
                                      const std::vector<SegmentFacts>& sealed = {});

// A closed segment that was not read, and what is known of the journal before it.
struct UnreadSegment {
  SegmentFacts facts;
  std::vector<StreamTail> tails;
  Tx last_tx = Tx::kBeforeFirst;
  FrameDigest digest = FrameDigest::kNone;
  std::shared_ptr<const Floors> floors;
};

// Reads it, as ReadContents would, and gives its rows. Fails with kDataLoss also when it is another
// segment than its facts say; with kNotFound when it is gone.
absl::StatusOr<Index> ReadUnread(const Directory& directory, const Catalogue& catalogue,
                                 const UnreadSegment& segment);

// Makes what ReadContents found durable: cuts a torn frame off, and writes everything after
// `mark` once more in place and syncs it. The process before us may have died of a failed sync,
// and then the disk need not hold what can be read from memory.
absl::Status MakeDurable(const Directory& directory, const Contents& contents,
                         const HeadMark& mark);

// Writes [begin, end) of a file once more in place and syncs it.
absl::Status WriteAgain(const Directory& directory, int fd, std::uint64_t begin, std::uint64_t end);

}  // namespace engine::file
