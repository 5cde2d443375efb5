// FrameReader reads the frames of one segment in order, with large reads; ReadSegmentHeader what
// lies before them.
//
// One thread. Next blocks on the disk, as the functions do.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "engine/file/format.h"

namespace engine::file {

// The header of the file `fd`, which is called `name`. Fails as DecodeSegmentHeader does, saying
// where, and with kUnavailable when it cannot be read.
absl::StatusOr<SegmentHeader> ReadSegmentHeader(int fd, const std::string& name,
                                                FrameType type = FrameType::kTransaction);

class FrameReader {
 public:
  // Reads [begin, end) of `fd`, which must stay open. `begin` is the start of a frame.
  FrameReader(int fd, std::uint64_t marker, std::uint64_t begin, std::uint64_t end,
              FrameType type = FrameType::kTransaction);

  // The next frame; it points into the reader and is valid until the next call. Empty at the
  // end. Fails with kDataLoss (why) when the bytes at offset() are no whole frame; with
  // kUnavailable when they cannot be read.
  absl::StatusOr<std::optional<Frame>> Next();

  // Where the frame that Next returned last starts; after a failure, where it looked.
  std::uint64_t offset() const { return offset_; }

 private:
  // Makes `size` bytes from next_ on available, as far as there are that many.
  absl::StatusOr<std::string_view> Look(std::size_t size);

  const int fd_;
  const FrameType type_;
  const std::uint64_t marker_;
  const std::uint64_t end_;
  std::uint64_t offset_;
  std::uint64_t next_;
  std::vector<char> buffer_;
  std::uint64_t buffer_offset_;  // Of the buffer's first byte in the file.
  std::size_t buffered_ = 0;
};

// Whether [begin, end) of `fd`, which is no frame at its start, has a whole frame later than `last`
// somewhere: then what is at its start is damage and no torn end. REQUIRES: not longer than a frame
// can be. Fails with kUnavailable.
absl::StatusOr<bool> LaterFrameFollows(int fd, std::uint64_t marker, std::uint64_t begin,
                                       std::uint64_t end, Tx last,
                                       FrameType type = FrameType::kTransaction);

}  // namespace engine::file
