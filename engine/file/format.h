// The bytes of the file backend: segment headers, frames, rows, head marks, the list of streams.
//
// Byte tables and worked examples: docs/formats/segment.md and docs/formats/row.md. All integers
// are little-endian. Thread-safe; never blocks.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "engine/append_check.h"
#include "engine/journal.h"

namespace engine::file {

// Of segments.
inline constexpr std::uint32_t kSegmentVersion = 2;
// Of the state log.
inline constexpr std::uint32_t kStateVersion = 1;
// Of the list of streams.
inline constexpr std::uint32_t kStreamsVersion = 1;
inline constexpr std::size_t kSegmentHeaderBytes = 48;
inline constexpr std::size_t kFrameHeaderBytes = 36;
inline constexpr std::size_t kFrameTrailerBytes = 8;
// Of a compacted frame, before its rows: first tx and digest.
inline constexpr std::size_t kCompactedHeaderBytes = 16;
// Before the RowBytes of a row: checksum and digest.
inline constexpr std::size_t kRowHeaderBytes = 16;
// RowBytes without key and payload.
inline constexpr std::size_t kRowFixedBytes = 46;
// An answer without its own bytes: two hashes and a length.
inline constexpr std::size_t kAnswerFixedBytes = 2 * kAnswerHashBytes + 4;
// A whole transaction with room for many small rows; what a torn write can leave at most.
inline constexpr std::size_t kMaxFrameBytes = std::size_t{32} << 20;
enum class FrameType : std::uint32_t {
  kTransaction = 1,
  kState = 2,      // docs/formats/state.md
  kCompacted = 3,  // Of a segment that was written anew; in the place of transactions.
};

// Names the bytes of one frame and, through `previous`, all before it.
enum class FrameDigest : std::uint64_t { kNone = 0 };
constexpr std::uint64_t Raw(FrameDigest digest) {
  return static_cast<std::uint64_t>(digest);
}

struct SegmentHeader {
  std::uint64_t marker = 0;  // Random; every frame of the segment starts with it.
  Tx first_tx = Tx::kBeforeFirst;
  FrameDigest previous = FrameDigest::kNone;  // Of the last frame before this segment.
};

std::string EncodeSegmentHeader(const SegmentHeader& header,
                                FrameType frames = FrameType::kTransaction);
// Fails with kDataLoss (damage) or kFailedPrecondition (intact, of another version).
absl::StatusOr<SegmentHeader> DecodeSegmentHeader(std::string_view bytes,
                                                  FrameType frames = FrameType::kTransaction);

struct Frame {
  std::uint32_t length = 0;  // Of the whole frame.
  Tx tx = Tx::kBeforeFirst;
  // Before `tx` only in a compacted frame: the transactions from here on have no rows left.
  Tx first_tx = Tx::kBeforeFirst;
  std::uint32_t rows_at = 0;  // Where the rows start in the frame.
  FrameDigest previous = FrameDigest::kNone;
  std::uint32_t rows = 0;
  std::string_view body;                    // The rows, then the answers.
  FrameDigest digest = FrameDigest::kNone;  // Of a compacted frame: of the one in its place.
};

struct EncodedFrame {
  std::string bytes;
  std::vector<std::uint32_t> rows;  // Where each row starts in `bytes`.
  FrameDigest digest = FrameDigest::kNone;
};

std::size_t FrameSize(const Appending& appending);
EncodedFrame EncodeFrame(const SegmentHeader& segment, Tx tx, FrameDigest previous,
                         const Appending& appending);

// What every frame starts with, and its end: the checksum of all before, which is its digest.
// `frame.body` and `frame.digest` are not looked at.
void AppendFrameHeader(std::uint64_t marker, FrameType type, const Frame& frame,
                       std::string& bytes);
FrameDigest SealFrame(std::string& bytes);

// What follows the header of a compacted frame.
void AppendCompactedHeader(Tx first_tx, FrameDigest digest, std::string& bytes);

// The length that the frame at the start of `bytes` claims, when its marker is the segment's and
// the length is a possible one; else 0. REQUIRES: kFrameHeaderBytes bytes.
std::uint32_t ClaimedLength(std::uint64_t marker, std::string_view bytes);

// The frame at the start of `bytes`, which point into it. Where transactions are wanted, compacted
// frames are taken too. Fails with kDataLoss and the reason.
absl::StatusOr<Frame> DecodeFrame(std::uint64_t marker, std::string_view bytes,
                                  FrameType wanted = FrameType::kTransaction);

// A row as it lies in a frame.
struct RowView {
  std::uint64_t checksum = 0;
  Digest digest = Digest::kEmpty;
  std::string_view bytes;  // RowBytes, which `checksum` is taken over.
  StreamId stream = StreamId::kInvalid;
  Position position = Position::kBeforeFirst;
  Tx tx = Tx::kBeforeFirst;
  std::string_view key;
  Position previous = Position::kBeforeFirst;
  std::uint16_t flags = 0;
  Timestamp at;
  std::string_view payload;

  std::size_t size() const { return kRowHeaderBytes + bytes.size(); }
};

// How many bytes the row at the start of `bytes` has, as far as they tell: more than
// `bytes.size()` when it is cut off.
std::size_t RowSize(std::string_view bytes);
// Empty when `bytes` do not hold the whole row at their start.
std::optional<RowView> DecodeRow(std::string_view bytes);
bool RowIntact(const RowView& row);

// The answers that `bytes` are, of the transaction `tx` at the time `at`. Empty when the last one
// is cut off.
std::optional<std::vector<KeptAnswer>> DecodeAnswers(std::string_view bytes, Tx tx, Timestamp at);
Record ToRecord(const RowView& row);

// A place in the journal that is known to be durable.
struct HeadMark {
  Tx segment = Tx::kBeforeFirst;  // The segment's first tx, which names it.
  std::uint64_t offset = 0;       // The end of the last frame, in that segment.
  Tx tx = Tx::kBeforeFirst;
  FrameDigest digest = FrameDigest::kNone;
  friend bool operator==(const HeadMark&, const HeadMark&) = default;
};

// The head file has two slots, written in turn, a disk block apart.
inline constexpr std::size_t kHeadSlotBytes = 48;
inline constexpr std::uint64_t kHeadSlotOffsets[2] = {0, 4096};

std::string EncodeHeadMark(const HeadMark& mark);
std::optional<HeadMark> DecodeHeadMark(std::string_view bytes);

std::string EncodeStreams(const Catalogue& catalogue);
// Fails with kDataLoss or kFailedPrecondition.
absl::StatusOr<Catalogue> DecodeStreams(std::string_view bytes);

}  // namespace engine::file
