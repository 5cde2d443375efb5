// SegmentLog writes transactions to the last segment, each as one frame that is synced before
// Append returns, and starts a new segment when the last one is full.
//
// One writer at a time: whoever holds the journal's lock. Calls block on the disk.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <absl/status/statusor.h>

#include "engine/append_check.h"
#include "engine/base/random.h"
#include "engine/file/directory.h"
#include "engine/file/head_file.h"
#include "engine/file/recovery.h"

namespace engine::file {

class SegmentLog {
 public:
  struct Options {
    std::uint64_t segment_bytes = 0;
    Random* random = nullptr;
  };

  // Continues after `contents`, which are durable; makes the first segment if there is none.
  // `directory` and `head` must outlive the log.
  static absl::StatusOr<std::unique_ptr<SegmentLog>> Open(const Directory& directory,
                                                          HeadFile& head, Contents& contents,
                                                          Options options);

  struct Appended {
    std::vector<std::uint32_t> offsets;  // Where each row starts in the segment.
    std::uint64_t marker = 0;            // Of the segment.
    HeadMark end;
  };

  // Writes the rows and answers of one transaction and syncs them. REQUIRES: there are rows.
  //
  // Fails with
  //   kUnavailable       the disk took it not or not whole; what was written of it is gone again
  //   kInvalidArgument   the frame would be over kMaxFrameBytes; nothing was written
  //   kInternal          a sync failed, or a part of a frame could not be removed: the outcome is
  //                      unknown and nothing may be written any more
  absl::StatusOr<Appended> Append(const Appending& appending);

 private:
  SegmentLog(const Directory& directory, HeadFile& head, Options options)
      : directory_(directory), head_(head), options_(options) {}

  absl::Status StartSegment(Tx first_tx);
  absl::Status WriteFrame(std::string_view bytes);

  const Directory& directory_;
  HeadFile& head_;
  const Options options_;
  Fd file_;
  SegmentHeader header_;
  HeadMark end_;
};

}  // namespace engine::file
