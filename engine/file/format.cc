#include "engine/file/format.h"

#include <absl/strings/str_format.h>

#include "engine/base/bytes.h"
#include "engine/base/checksum.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "engine/file_head.h"

namespace engine::file {
namespace {

constexpr FileFormat kSegment{
    .magic = "HALOJRNL", .version = kSegmentVersion, .name = "the segment"};
constexpr FileFormat kState{.magic = "HALOSTAT", .version = kStateVersion, .name = "the state log"};
constexpr FileFormat kStreams{
    .magic = "HALOSTRM", .version = kStreamsVersion, .name = "the list of streams"};
constexpr std::string_view kHeadMagic = "HALOHEAD";

const FileFormat& FormatOf(FrameType frames) {
  return frames == FrameType::kState ? kState : kSegment;
}

// Of a transaction, as `bytes` have it from the header's first to the checksum's last.
Frame ReadFrame(std::string_view bytes) {
  Frame frame;
  frame.length = static_cast<std::uint32_t>(bytes.size());
  frame.tx = Tx{ReadU64(bytes.substr(16))};
  frame.previous = FrameDigest{ReadU64(bytes.substr(24))};
  frame.rows = ReadU32(bytes.substr(32));
  frame.body =
      bytes.substr(kFrameHeaderBytes, bytes.size() - kFrameHeaderBytes - kFrameTrailerBytes);
  frame.digest = FrameDigest{ReadU64(bytes.substr(bytes.size() - kFrameTrailerBytes))};
  frame.first_tx = frame.tx;
  frame.rows_at = kFrameHeaderBytes;
  return frame;
}

}  // namespace

std::string EncodeSegmentHeader(const SegmentHeader& header, FrameType frames) {
  std::string bytes = FileHead(FormatOf(frames), 0);
  AppendU64(header.marker, bytes);
  AppendU64(Raw(header.first_tx), bytes);
  AppendU64(Raw(header.previous), bytes);
  AppendChecksum(bytes);
  return bytes;
}

absl::StatusOr<SegmentHeader> DecodeSegmentHeader(std::string_view bytes, FrameType frames) {
  if (bytes.empty()) {
    return absl::DataLossError("the file is empty");
  }
  if (bytes.size() < kSegmentHeaderBytes) {
    return absl::DataLossError("the segment's header is cut off");
  }
  bytes = bytes.substr(0, kSegmentHeaderBytes);
  const FileFormat& format = FormatOf(frames);
  if (!bytes.starts_with(format.magic)) {
    return absl::DataLossError(
        absl::StrFormat("this is no segment: it does not start with %s", format.magic));
  }
  if (!GUARD("file.header-checksum", EndsWithChecksum(bytes))) {
    return absl::DataLossError("the checksum of the segment's header is wrong");
  }
  RETURN_IF_ERROR(CheckVersion(format, bytes));
  return SegmentHeader{.marker = ReadU64(bytes.substr(16)),
                       .first_tx = Tx{ReadU64(bytes.substr(24))},
                       .previous = FrameDigest{ReadU64(bytes.substr(32))}};
}

std::size_t FrameSize(const Appending& appending) {
  std::size_t size = kFrameHeaderBytes + kFrameTrailerBytes;
  for (const Record& row : appending.rows) {
    size += kRowHeaderBytes + kRowFixedBytes + row.key.size() + row.payload.size();
  }
  for (const KeptAnswer& answer : appending.answers) {
    size += kAnswerFixedBytes + answer.answer.size();
  }
  return size;
}

EncodedFrame EncodeFrame(const SegmentHeader& segment, Tx tx, FrameDigest previous,
                         const Appending& appending) {
  const std::span<const Record> rows = appending.rows;
  const std::size_t size = FrameSize(appending);
  EncodedFrame frame;
  frame.bytes.reserve(size);
  frame.rows.reserve(rows.size());
  AppendFrameHeader(segment.marker, FrameType::kTransaction,
                    {.length = static_cast<std::uint32_t>(size),
                     .tx = tx,
                     .first_tx = tx,
                     .rows_at = kFrameHeaderBytes,
                     .previous = previous,
                     .rows = static_cast<std::uint32_t>(rows.size()),
                     .body = {},
                     .digest = {}},
                    frame.bytes);
  for (const Record& row : rows) {
    frame.rows.push_back(static_cast<std::uint32_t>(frame.bytes.size()));
    AppendU64(row.checksum, frame.bytes);
    AppendU64(Raw(row.digest), frame.bytes);
    frame.bytes += RowBytes(row);
  }
  for (const KeptAnswer& answer : appending.answers) {
    frame.bytes += answer.key;
    frame.bytes += answer.request;
    AppendU32(static_cast<std::uint32_t>(answer.answer.size()), frame.bytes);
    frame.bytes += answer.answer;
  }
  frame.digest = SealFrame(frame.bytes);
  return frame;
}

void AppendFrameHeader(std::uint64_t marker, FrameType type, const Frame& frame,
                       std::string& bytes) {
  AppendU64(marker, bytes);
  AppendU32(frame.length, bytes);
  AppendU32(static_cast<std::uint32_t>(type), bytes);
  AppendU64(Raw(frame.tx), bytes);
  AppendU64(Raw(frame.previous), bytes);
  AppendU32(frame.rows, bytes);
}

void AppendCompactedHeader(Tx first_tx, FrameDigest digest, std::string& bytes) {
  AppendU64(Raw(first_tx), bytes);
  AppendU64(Raw(digest), bytes);
}

FrameDigest SealFrame(std::string& bytes) {
  const FrameDigest digest{Checksum64(bytes)};
  AppendU64(Raw(digest), bytes);
  return digest;
}

std::uint32_t ClaimedLength(std::uint64_t marker, std::string_view bytes) {
  const std::uint32_t length = ReadU32(bytes.substr(8));
  const bool possible =
      length >= kFrameHeaderBytes + kFrameTrailerBytes && length <= kMaxFrameBytes;
  return ReadU64(bytes) == marker && possible ? length : 0;
}

absl::StatusOr<Frame> DecodeFrame(std::uint64_t marker, std::string_view bytes, FrameType wanted) {
  if (bytes.size() < kFrameHeaderBytes) {
    return absl::DataLossError("the frame's header is cut off");
  }
  if (ReadU64(bytes) != marker) {
    return absl::DataLossError("no frame starts here: the marker is wrong");
  }
  const std::uint32_t length = ClaimedLength(marker, bytes);
  if (length == 0) {
    return absl::DataLossError(
        absl::StrFormat("the frame's length %d is impossible", ReadU32(bytes.substr(8))));
  }
  if (length > bytes.size()) {
    return absl::DataLossError("the frame is cut off");
  }
  bytes = bytes.substr(0, length);
  if (!GUARD("file.frame-checksum", EndsWithChecksum(bytes))) {
    return absl::DataLossError("the frame's checksum is wrong");
  }
  const FrameType type{ReadU32(bytes.substr(12))};
  const bool compacted = type == FrameType::kCompacted && wanted == FrameType::kTransaction;
  if (type != wanted && !compacted) {
    return absl::DataLossError(
        absl::StrFormat("the frame's type %d is unknown", static_cast<std::uint32_t>(type)));
  }
  Frame frame = ReadFrame(bytes);
  if (compacted) {
    if (frame.body.size() < kCompactedHeaderBytes) {
      return absl::DataLossError("the compacted frame is cut off");
    }
    frame.first_tx = Tx{ReadU64(frame.body)};
    frame.digest = FrameDigest{ReadU64(frame.body.substr(8))};
    frame.rows_at += kCompactedHeaderBytes;
    frame.body.remove_prefix(kCompactedHeaderBytes);
  }
  return frame;
}

std::string EncodeHeadMark(const HeadMark& mark) {
  std::string bytes(kHeadMagic);
  AppendU64(Raw(mark.segment), bytes);
  AppendU64(mark.offset, bytes);
  AppendU64(Raw(mark.tx), bytes);
  AppendU64(Raw(mark.digest), bytes);
  AppendChecksum(bytes);
  return bytes;
}

std::optional<HeadMark> DecodeHeadMark(std::string_view bytes) {
  if (bytes.size() != kHeadSlotBytes || !bytes.starts_with(kHeadMagic) ||
      !EndsWithChecksum(bytes)) {
    return std::nullopt;
  }
  return HeadMark{.segment = Tx{ReadU64(bytes.substr(8))},
                  .offset = ReadU64(bytes.substr(16)),
                  .tx = Tx{ReadU64(bytes.substr(24))},
                  .digest = FrameDigest{ReadU64(bytes.substr(32))}};
}

std::string EncodeStreams(const Catalogue& catalogue) {
  std::string bytes = FileHead(kStreams, catalogue.size());
  for (const StreamSpec& spec : catalogue) {
    AppendU32(static_cast<std::uint32_t>(spec.id), bytes);
    AppendU8(spec.keyed ? 1 : 0, bytes);
    AppendU8(spec.chained ? 1 : 0, bytes);
    AppendU16(static_cast<std::uint16_t>(spec.name.size()), bytes);
    bytes += spec.name;
  }
  AppendChecksum(bytes);
  return bytes;
}

absl::StatusOr<Catalogue> DecodeStreams(std::string_view bytes) {
  RETURN_IF_ERROR(CheckMagic(kStreams, bytes));
  if (!EndsWithChecksum(bytes)) {
    return Damaged(kStreams, "its checksum is wrong");
  }
  RETURN_IF_ERROR(CheckVersion(kStreams, bytes));
  const std::uint32_t count = FileCount(bytes);
  std::string_view rest = FileBody(bytes);
  Catalogue catalogue;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::size_t name = rest.size() < 8 ? rest.size() : ReadU16(rest.substr(6));
    if (rest.size() < 8 + name) {
      return Damaged(kStreams, "it is cut off");
    }
    catalogue.push_back({.id = StreamId{ReadU32(rest)},
                         .name = std::string(rest.substr(8, name)),
                         .keyed = rest[4] != 0,
                         .chained = rest[5] != 0});
    rest.remove_prefix(8 + name);
  }
  return catalogue;
}

}  // namespace engine::file
