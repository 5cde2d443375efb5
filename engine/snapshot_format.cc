#include "engine/snapshot_format.h"

#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/bytes.h"
#include "engine/base/checksum.h"
#include "engine/base/disk.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "engine/file_head.h"

namespace engine {
namespace {

constexpr FileFormat kFormat{.magic = kSnapshotMagic, .version = 1, .name = "the snapshot"};
constexpr std::size_t kFixedHeaderBytes = 24;
constexpr std::size_t kStreamBytes = 48;
constexpr std::uint32_t kMaxStreams = 1024;
constexpr std::size_t kChecksumBytes = 8;
constexpr std::size_t kBlockHeadBytes = 12;
// A block is closed when its body has reached this; one part may reach over it.
constexpr std::size_t kBlockBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxBodyBytes = kBlockBytes + kMaxStatePartBytes + 4;

SavedStream ReadSavedStream(std::string_view bytes) {
  return {.cursor = {.stream = StreamId{ReadU32(bytes)},
                     .position = Position{ReadU64(bytes.substr(8))},
                     .digest = Digest{ReadU64(bytes.substr(16))}},
          .tx = Tx{ReadU64(bytes.substr(24))},
          .at = {static_cast<std::int64_t>(ReadU64(bytes.substr(32)))},
          .fold_version = ReadU32(bytes.substr(4)),
          .state_digest = ReadU64(bytes.substr(40))};
}

}  // namespace

std::string SnapshotEncoder::Header(const SnapshotHeader& header) {
  std::string bytes = FileHead(kFormat, header.streams.size());
  AppendU64(Raw(header.tx), bytes);
  for (const SavedStream& stream : header.streams) {
    AppendU32(static_cast<std::uint32_t>(stream.cursor.stream), bytes);
    AppendU32(stream.fold_version, bytes);
    AppendU64(Raw(stream.cursor.position), bytes);
    AppendU64(Raw(stream.cursor.digest), bytes);
    AppendU64(Raw(stream.tx), bytes);
    AppendU64(static_cast<std::uint64_t>(stream.at.micros), bytes);
    AppendU64(stream.state_digest, bytes);
  }
  checksum_ = Checksum64(bytes);
  AppendU64(checksum_, bytes);
  return bytes;
}

std::string SnapshotEncoder::Add(StreamId stream, std::string_view part) {
  std::string before;
  if (parts_ > 0 && (stream != stream_ || body_.size() >= kBlockBytes)) {
    before = Flush();
  }
  stream_ = stream;
  AppendU32(static_cast<std::uint32_t>(part.size()), body_);
  body_ += part;
  ++parts_;
  return before;
}

std::string SnapshotEncoder::Finish() {
  std::string bytes = parts_ > 0 ? Flush() : std::string();
  stream_ = StreamId::kInvalid;
  return bytes + Flush();
}

std::string SnapshotEncoder::Flush() {
  std::string bytes;
  bytes.reserve(kChecksumBytes + kBlockHeadBytes + body_.size() + kChecksumBytes);
  AppendU64(checksum_, bytes);
  AppendU32(static_cast<std::uint32_t>(stream_), bytes);
  AppendU32(parts_, bytes);
  AppendU32(static_cast<std::uint32_t>(body_.size()), bytes);
  bytes += body_;
  checksum_ = Checksum64(bytes);
  AppendU64(checksum_, bytes);
  parts_ = 0;
  body_.clear();
  return bytes.substr(kChecksumBytes);
}

absl::StatusOr<SnapshotReader> SnapshotReader::Open(int fd) {
  SnapshotReader reader(fd);
  RETURN_IF_ERROR(reader.ReadHeader());
  return reader;
}

absl::Status SnapshotReader::Damage(std::string_view why) const {
  return absl::DataLossError(absl::StrFormat("the snapshot at byte %d: %s", offset_, why));
}

absl::StatusOr<std::string> SnapshotReader::Take(std::size_t size) {
  std::string bytes(size, '\0');
  ASSIGN_OR_RETURN(const std::size_t got, ReadAt(fd_, bytes.data(), size, offset_));
  if (got < size) {
    return Damage("it is cut off");
  }
  return bytes;
}

absl::Status SnapshotReader::ReadHeader() {
  ASSIGN_OR_RETURN(std::string bytes, Take(kFixedHeaderBytes));
  if (!bytes.starts_with(kFormat.magic)) {
    return Damage("it does not start with HALOSNAP");
  }
  RETURN_IF_ERROR(CheckVersion(kFormat, bytes));
  const std::uint32_t streams = FileCount(bytes);
  if (streams > kMaxStreams) {
    return Damage("its number of streams is impossible");
  }
  const std::size_t size = kFixedHeaderBytes + streams * kStreamBytes;
  ASSIGN_OR_RETURN(bytes, Take(size + kChecksumBytes));
  const std::string_view view(bytes);
  checksum_ = ReadU64(view.substr(size));
  if (!GUARD("snapshot.header-checksum", checksum_ == Checksum64(view.substr(0, size)))) {
    return Damage("the checksum of its header is wrong");
  }
  header_.tx = Tx{ReadU64(view.substr(16))};
  for (std::uint32_t i = 0; i < streams; ++i) {
    header_.streams.push_back(ReadSavedStream(view.substr(kFixedHeaderBytes + i * kStreamBytes)));
  }
  offset_ = bytes.size();
  return absl::OkStatus();
}

absl::Status SnapshotReader::ReadBlock() {
  if (block_.has_value()) {
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(const std::string head, Take(kBlockHeadBytes));
  const std::size_t body = ReadU32(std::string_view(head).substr(8));
  if (body > kMaxBodyBytes) {
    return Damage("a block's length is impossible");
  }
  Block block{.stream = StreamId{ReadU32(head)},
              .parts = ReadU32(std::string_view(head).substr(4)),
              .bytes = {}};
  AppendU64(checksum_, block.bytes);
  ASSIGN_OR_RETURN(const std::string rest, Take(kBlockHeadBytes + body + kChecksumBytes));
  block.bytes += rest;
  const std::string_view view(block.bytes);
  const std::size_t sealed = block.bytes.size() - kChecksumBytes;
  const std::uint64_t checksum = ReadU64(view.substr(sealed));
  if (!GUARD("snapshot.block-checksum", checksum == Checksum64(view.substr(0, sealed)))) {
    return Damage("a block's checksum is wrong");
  }
  checksum_ = checksum;
  offset_ += rest.size();
  block_ = std::move(block);
  return absl::OkStatus();
}

absl::Status SnapshotReader::HandOver(const StatePartSink& sink) const {
  std::string_view rest(block_->bytes);
  rest.remove_prefix(kChecksumBytes + kBlockHeadBytes);
  rest.remove_suffix(kChecksumBytes);
  for (std::uint32_t i = 0; i < block_->parts; ++i) {
    if (rest.size() < 4 || rest.size() - 4 < ReadU32(rest)) {
      return Damage("a part does not fit into its block");
    }
    const std::size_t size = ReadU32(rest);
    RETURN_IF_ERROR(sink(rest.substr(4, size)));
    rest.remove_prefix(4 + size);
  }
  return rest.empty() ? absl::OkStatus() : Damage("a block's number of parts is wrong");
}

absl::Status SnapshotReader::ReadStream(StreamId stream, const StatePartSink& sink) {
  while (true) {
    RETURN_IF_ERROR(ReadBlock());
    if (block_->stream != stream) {
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(HandOver(sink));
    block_.reset();
  }
}

absl::Status SnapshotReader::Finish() {
  RETURN_IF_ERROR(ReadBlock());
  if (block_->stream != StreamId::kInvalid || block_->parts != 0) {
    return Damage("parts of a stream that its header does not name");
  }
  ASSIGN_OR_RETURN(const std::uint64_t size, FileSize(fd_));
  return size == offset_ ? absl::OkStatus() : Damage("something follows its end");
}

}  // namespace engine
