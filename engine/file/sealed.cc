#include "engine/file/sealed.h"

#include <algorithm>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/guard.h"
#include "engine/base/logging.h"
#include "engine/base/status_macros.h"
#include "engine/file_head.h"

namespace engine::file {
namespace {

constexpr char kName[] = "sealed";
constexpr FileFormat kFormat{
    .magic = "HALOSEAL", .version = 1, .name = "the list of closed segments"};
constexpr std::uint32_t kHasAnswers = 1;
constexpr std::size_t kSegmentBytes = 56;
constexpr std::size_t kStreamBytes = 56;
constexpr std::size_t kMaxBytes = std::size_t{256} << 20;

void Append(const StreamFacts& stream, std::string& bytes) {
  AppendU32(static_cast<std::uint32_t>(stream.stream), bytes);
  AppendU32(0, bytes);
  AppendU64(Raw(stream.first), bytes);
  AppendU64(Raw(stream.last), bytes);
  AppendU64(stream.rows, bytes);
  AppendU64(Raw(stream.tx), bytes);
  AppendU64(static_cast<std::uint64_t>(stream.at.micros), bytes);
  AppendU64(Raw(stream.digest), bytes);
}

StreamFacts ReadStream(std::string_view bytes) {
  return {.stream = StreamId{ReadU32(bytes)},
          .first = Position{ReadU64(bytes.substr(8))},
          .last = Position{ReadU64(bytes.substr(16))},
          .rows = ReadU64(bytes.substr(24)),
          .tx = Tx{ReadU64(bytes.substr(32))},
          .at = {static_cast<std::int64_t>(ReadU64(bytes.substr(40)))},
          .digest = Digest{ReadU64(bytes.substr(48))}};
}

// Takes one segment off the front of `bytes`.
absl::StatusOr<SegmentFacts> TakeSegment(std::string_view& bytes) {
  if (bytes.size() < kSegmentBytes) {
    return Damaged(kFormat, "a segment is cut off");
  }
  SegmentFacts segment{.id = {.first = Tx{ReadU64(bytes)}, .generation = ReadU32(bytes.substr(8))},
                       .marker = ReadU64(bytes.substr(16)),
                       .bytes = ReadU64(bytes.substr(24)),
                       .last_tx = Tx{ReadU64(bytes.substr(32))},
                       .digest = FrameDigest{ReadU64(bytes.substr(40))},
                       .has_answers = (FileCount(bytes) & kHasAnswers) != 0,
                       .streams = {}};
  const std::uint64_t streams = ReadU64(bytes.substr(48));
  bytes.remove_prefix(kSegmentBytes);
  if (streams > bytes.size() / kStreamBytes) {
    return Damaged(kFormat, "its number of streams is impossible");
  }
  for (std::uint64_t i = 0; i < streams; ++i) {
    segment.streams.push_back(ReadStream(bytes));
    bytes.remove_prefix(kStreamBytes);
  }
  return segment;
}

}  // namespace

void SegmentFacts::Note(StreamId stream, Position position, Tx tx, Timestamp at, Digest row) {
  auto facts = std::ranges::lower_bound(streams, stream, {}, &StreamFacts::stream);
  if (facts == streams.end() || facts->stream != stream) {
    facts = streams.insert(facts, {.stream = stream, .first = position});
  }
  facts->last = position;
  ++facts->rows;
  facts->tx = tx;
  facts->at = at;
  facts->digest = row;
}

std::uint64_t SegmentFacts::rows() const {
  std::uint64_t rows = 0;
  for (const StreamFacts& stream : streams) {
    rows += stream.rows;
  }
  return rows;
}

Timestamp SegmentFacts::at() const {
  Timestamp newest;
  for (const StreamFacts& stream : streams) {
    newest = std::max(newest, stream.at);
  }
  return newest;
}

void GoBehind(const SegmentFacts& segment, std::vector<StreamTail>& tails) {
  for (const StreamFacts& stream : segment.streams) {
    const auto tail = std::ranges::find(tails, stream.stream, &StreamTail::stream);
    if (tail != tails.end()) {
      tail->position = stream.last;
      tail->tx = stream.tx;
      tail->at = stream.at;
      tail->digest = stream.digest;
    }
  }
}

std::string EncodeSealed(std::span<const SegmentFacts> segments) {
  std::string bytes = FileHead(kFormat, segments.size());
  for (const SegmentFacts& segment : segments) {
    AppendU64(Raw(segment.id.first), bytes);
    AppendU32(segment.id.generation, bytes);
    AppendU32(segment.has_answers ? kHasAnswers : 0, bytes);
    AppendU64(segment.marker, bytes);
    AppendU64(segment.bytes, bytes);
    AppendU64(Raw(segment.last_tx), bytes);
    AppendU64(Raw(segment.digest), bytes);
    AppendU64(segment.streams.size(), bytes);
    for (const StreamFacts& stream : segment.streams) {
      Append(stream, bytes);
    }
  }
  AppendChecksum(bytes);
  return bytes;
}

absl::StatusOr<std::vector<SegmentFacts>> DecodeSealed(std::string_view bytes) {
  RETURN_IF_ERROR(CheckMagic(kFormat, bytes));
  if (!GUARD("file.sealed-checksum", EndsWithChecksum(bytes))) {
    return Damaged(kFormat, "its checksum is wrong");
  }
  RETURN_IF_ERROR(CheckVersion(kFormat, bytes));
  std::string_view rest = FileBody(bytes);
  std::vector<SegmentFacts> segments;
  for (std::uint32_t i = 0; i < ReadU32(bytes.substr(12)); ++i) {
    ASSIGN_OR_RETURN(SegmentFacts segment, TakeSegment(rest));
    segments.push_back(std::move(segment));
  }
  return rest.empty() ? absl::StatusOr<std::vector<SegmentFacts>>(std::move(segments))
                      : Damaged(kFormat, "something follows its end");
}

std::vector<SegmentFacts> ReadSealed(const Directory& directory) {
  const absl::StatusOr<std::string> bytes = directory.ReadFile(kName, kMaxBytes);
  if (absl::IsNotFound(bytes.status())) {
    return {};
  }
  absl::StatusOr<std::vector<SegmentFacts>> segments =
      bytes.ok() ? DecodeSealed(*bytes) : bytes.status();
  if (!segments.ok()) {
    Log(Severity::kWarning, "the list of closed segments is of no use; they are read",
        {{"directory", directory.path()}, {"why", segments.status().ToString()}});
    return {};
  }
  return *std::move(segments);
}

absl::Status WriteSealed(const Directory& directory, std::span<const SegmentFacts> segments) {
  return directory.Replace(kName, EncodeSealed(segments)).status();
}

}  // namespace engine::file
