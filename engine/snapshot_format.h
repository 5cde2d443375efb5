// The bytes of a snapshot file: what a follower had folded at one transaction.
//
// Byte tables and a worked example: docs/formats/snapshot.md. Every byte is under a checksum, and
// each block's checksum is taken over the one before, so blocks cannot be cut off, left out or
// swapped. One thread; the reader blocks on the disk.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/journal.h"
#include "engine/projection.h"

namespace engine {

// The first bytes of a snapshot file.
inline constexpr std::string_view kSnapshotMagic = "HALOSNAP";

// One stream in a snapshot: where its projection stood, and what it must come to again.
struct SavedStream {
  StreamCursor cursor;
  Tx tx = Tx::kBeforeFirst;  // Of the row at the cursor.
  Timestamp at;              // Likewise.
  std::uint32_t fold_version = 0;
  std::uint64_t state_digest = 0;
  friend bool operator==(const SavedStream&, const SavedStream&) = default;
};

struct SnapshotHeader {
  Tx tx = Tx::kBeforeFirst;          // The cut: everything up to it, nothing behind it.
  std::vector<SavedStream> streams;  // Ascending by stream.
};

// Builds the bytes of one snapshot, piece by piece, so that they need not be in memory at once.
class SnapshotEncoder {
 public:
  // Each returns the next bytes of the file; Add mostly none.
  std::string Header(const SnapshotHeader& header);
  std::string Add(StreamId stream, std::string_view part);
  std::string Finish();

 private:
  std::string Flush();

  std::uint64_t checksum_ = 0;  // The last one that was written.
  StreamId stream_ = StreamId::kInvalid;
  std::uint32_t parts_ = 0;
  std::string body_;
};

// Reads a snapshot file from front to back and believes no byte that it has not verified.
class SnapshotReader {
 public:
  // Reads the header of the file `fd`, which must stay open.
  //
  // Fails with
  //   kDataLoss            it is damaged, cut off or no snapshot; the message names the byte
  //   kFailedPrecondition  it is of another format version
  //   kUnavailable         it cannot be read
  static absl::StatusOr<SnapshotReader> Open(int fd);

  const SnapshotHeader& header() const { return header_; }

  // Hands over the parts of the next stream of the header, in order. Fails as Open does, and as
  // the sink does.
  absl::Status ReadStream(StreamId stream, const StatePartSink& sink);

  // After the last stream: the file ends here. Fails as Open does.
  absl::Status Finish();

 private:
  struct Block {
    StreamId stream = StreamId::kInvalid;
    std::uint32_t parts = 0;
    std::string bytes;  // The checksum before, the block's head, its body, its checksum.
  };

  explicit SnapshotReader(int fd) : fd_(fd) {}

  absl::Status ReadHeader();
  absl::Status ReadBlock();
  absl::Status HandOver(const StatePartSink& sink) const;
  absl::StatusOr<std::string> Take(std::size_t size);
  absl::Status Damage(std::string_view why) const;

  int fd_;
  std::uint64_t offset_ = 0;
  std::uint64_t checksum_ = 0;
  SnapshotHeader header_;
  std::optional<Block> block_;  // Read and not yet handed over.
};

}  // namespace engine
