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
  Frame frame;
  frame.length = length;
  frame.tx = Tx{ReadU64(bytes.substr(16))};
  frame.previous = FrameDigest{ReadU64(bytes.substr(24))};
  frame.rows = ReadU32(bytes.substr(32));
  frame.body = bytes.substr(kFrameHeaderBytes, length - kFrameHeaderBytes - kFrameTrailerBytes);
  frame.digest = FrameDigest{ReadU64(bytes.substr(length - kFrameTrailerBytes))};
  frame.first_tx = frame.tx;
  frame.rows_at = kFrameHeaderBytes;
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

std::size_t RowSize(std::string_view bytes) {
  constexpr std::size_t kKeyLengthAt = kRowHeaderBytes + 20;
  if (bytes.size() < kKeyLengthAt + 4) {
    return kRowHeaderBytes + kRowFixedBytes;
  }
  const std::size_t key = ReadU32(bytes.substr(kKeyLengthAt));
  const std::size_t before_payload = kRowHeaderBytes + kRowFixedBytes + key;
  if (bytes.size() < before_payload) {
    return before_payload;
  }
  return before_payload + ReadU32(bytes.substr(before_payload - 4));
}

std::optional<RowView> DecodeRow(std::string_view bytes) {
  const std::size_t size = RowSize(bytes);
  if (bytes.size() < size) {
    return std::nullopt;
  }
  RowView row;
  row.checksum = ReadU64(bytes);
  row.digest = Digest{ReadU64(bytes.substr(8))};
  row.bytes = bytes.substr(kRowHeaderBytes, size - kRowHeaderBytes);
  row.stream = StreamId{ReadU32(row.bytes)};
  row.position = Position{ReadU64(row.bytes.substr(4))};
  row.tx = Tx{ReadU64(row.bytes.substr(12))};
  const std::size_t key = ReadU32(row.bytes.substr(20));
  row.key = row.bytes.substr(24, key);
  const std::string_view rest = row.bytes.substr(24 + key);
  row.previous = Position{ReadU64(rest)};
  row.flags = ReadU16(rest.substr(8));
  row.at = Timestamp{static_cast<std::int64_t>(ReadU64(rest.substr(10)))};
  row.payload = rest.substr(22);
  return row;
}

bool RowIntact(const RowView& row) {
  return GUARD("file.row-checksum", row.checksum == Checksum64(row.bytes));
}

Record ToRecord(const RowView& row) {
  Record record;
  record.stream = row.stream;
  record.position = row.position;
  record.tx = row.tx;
  record.key = row.key;
  record.previous = row.previous;
  record.flags = row.flags;
  record.at = row.at;
  record.checksum = row.checksum;
  record.digest = row.digest;
  record.payload = Payload(row.payload);
  return record;
}

std::optional<std::vector<KeptAnswer>> DecodeAnswers(std::string_view bytes, Tx tx, Timestamp at) {
  std::vector<KeptAnswer> answers;
  while (!bytes.empty()) {
    if (bytes.size() < kAnswerFixedBytes ||
        bytes.size() - kAnswerFixedBytes < ReadU32(bytes.substr(2 * kAnswerHashBytes))) {
      return std::nullopt;
    }
    const std::size_t size = ReadU32(bytes.substr(2 * kAnswerHashBytes));
    answers.push_back({.key = std::string(bytes.substr(0, kAnswerHashBytes)),
                       .request = std::string(bytes.substr(kAnswerHashBytes, kAnswerHashBytes)),
                       .answer = std::string(bytes.substr(kAnswerFixedBytes, size)),
                       .tx = tx,
                       .at = at});
    bytes.remove_prefix(kAnswerFixedBytes + size);
  }
  return answers;
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
