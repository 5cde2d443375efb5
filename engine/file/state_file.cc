#include "engine/file/state_file.h"

#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/bytes.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "engine/file/damage.h"
#include "engine/file/frame_reader.h"

namespace engine::file {
namespace {

constexpr std::uint8_t kPut = 1;
constexpr std::uint8_t kRemove = 2;
// Before the key; after it in a put, without the value.
constexpr std::size_t kChangeHeaderBytes = 4;
constexpr std::size_t kPutFixedBytes = 21;
// A frame of a rewritten file is closed when it has as many bytes.
constexpr std::size_t kRewriteFrameBytes = std::size_t{1} << 20;

void AppendChange(const StateChange& change, std::string& bytes) {
  AppendU8(static_cast<std::uint8_t>(change.key.table), bytes);
  AppendU8(change.row.has_value() ? kPut : kRemove, bytes);
  AppendU16(static_cast<std::uint16_t>(change.key.key.size()), bytes);
  bytes += change.key.key;
  if (!change.row.has_value()) {
    return;
  }
  const memory::Row& row = *change.row;
  AppendU64(row.number, bytes);
  AppendU8(row.expires_at.has_value() ? 1 : 0, bytes);
  AppendU64(static_cast<std::uint64_t>(row.expires_at.value_or(Timestamp{}).micros), bytes);
  AppendU32(static_cast<std::uint32_t>(row.value.size()), bytes);
  bytes += row.value;
}

// Takes one change off the front of `rest`; empty when there is no whole one.
std::optional<StateChange> TakeChange(std::string_view& rest) {
  if (rest.size() < kChangeHeaderBytes) {
    return std::nullopt;
  }
  const auto table = static_cast<std::uint8_t>(rest[0]);
  const auto kind = static_cast<std::uint8_t>(rest[1]);
  const std::size_t key = ReadU16(rest.substr(2));
  const std::size_t fixed = kind == kPut ? kPutFixedBytes : 0;
  if (table == 0 || (kind != kPut && kind != kRemove) ||
      rest.size() < kChangeHeaderBytes + key + fixed) {
    return std::nullopt;
  }
  StateChange change;
  change.key = {memory::Table{table}, std::string(rest.substr(kChangeHeaderBytes, key))};
  rest.remove_prefix(kChangeHeaderBytes + key);
  if (kind == kRemove) {
    return change;
  }
  memory::Row row;
  row.number = ReadU64(rest);
  const auto expires = static_cast<std::uint8_t>(rest[8]);
  if (expires == 1) {
    row.expires_at = Timestamp{static_cast<std::int64_t>(ReadU64(rest.substr(9)))};
  }
  const std::size_t value = ReadU32(rest.substr(17));
  rest.remove_prefix(kPutFixedBytes);
  if (expires > 1 || rest.size() < value) {
    return std::nullopt;
  }
  row.value = rest.substr(0, value);
  rest.remove_prefix(value);
  change.row = std::move(row);
  return change;
}

class StateReader {
 public:
  StateReader(const Directory& directory, std::uint64_t generation)
      : directory_(directory), name_(StateName(generation)) {
    contents_.generation = generation;
  }

  absl::StatusOr<StateContents> Read() {
    ASSIGN_OR_RETURN(const Fd file, directory_.OpenFile(name_, false));
    ASSIGN_OR_RETURN(const std::uint64_t size, FileSize(file.get()));
    RETURN_IF_ERROR(ReadHeader(file.get()));
    RETURN_IF_ERROR(ReadFrames(file.get(), size));
    return std::move(contents_);
  }

 private:
  absl::Status Damage(std::uint64_t offset, std::string_view why) const {
    return DamageAt(name_, offset, why);
  }

  absl::Status ReadHeader(int fd);
  absl::Status ReadFrames(int fd, std::uint64_t size);
  absl::Status TakeFrame(const Frame& frame);
  absl::Status JudgeTail(int fd, std::uint64_t size, std::string_view why);

  const Directory& directory_;
  const std::string name_;
  StateContents contents_;
};

absl::Status StateReader::ReadHeader(int fd) {
  ASSIGN_OR_RETURN(const SegmentHeader header, ReadSegmentHeader(fd, name_, FrameType::kState));
  if (Raw(header.first_tx) != contents_.generation) {
    return Damage(24, "the generation is not as the name says: the file was renamed or copied");
  }
  contents_.header = header;
  contents_.size = kSegmentHeaderBytes;
  return absl::OkStatus();
}

absl::Status StateReader::ReadFrames(int fd, std::uint64_t size) {
  FrameReader reader(fd, contents_.header.marker, kSegmentHeaderBytes, size, FrameType::kState);
  while (true) {
    const absl::StatusOr<std::optional<Frame>> next = reader.Next();
    if (absl::IsDataLoss(next.status())) {
      return JudgeTail(fd, size, MessageOf(next.status()));
    }
    RETURN_IF_ERROR(next.status());
    if (!next->has_value()) {
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(TakeFrame(**next));
  }
}

absl::Status StateReader::TakeFrame(const Frame& frame) {
  const bool follows = frame.tx == Next(contents_.last) && frame.previous == contents_.digest;
  if (!GUARD("file.state-previous", follows)) {
    return Damage(contents_.size, absl::StrFormat("frame %d does not follow frame %d before it",
                                                  Raw(frame.tx), Raw(contents_.last)));
  }
  std::optional<std::vector<StateChange>> changes = DecodeStateChanges(frame.body, frame.rows);
  if (!changes.has_value()) {
    return Damage(contents_.size + kFrameHeaderBytes, "the frame's changes do not fit into it");
  }
  for (StateChange& change : *changes) {
    if (change.row.has_value()) {
      contents_.rows.Put(change.key, *std::move(change.row));
    } else {
      contents_.rows.Remove(change.key);
    }
  }
  contents_.size += frame.length;
  contents_.last = frame.tx;
  contents_.digest = frame.digest;
  return absl::OkStatus();
}

// The bytes from the end on are no frame. A write that was cut off, or damage?
absl::Status StateReader::JudgeTail(int fd, std::uint64_t size, std::string_view why) {
  bool innocent = size - contents_.size <= kMaxFrameBytes;
  if (innocent) {
    ASSIGN_OR_RETURN(const bool follows,
                     LaterFrameFollows(fd, contents_.header.marker, contents_.size, size,
                                       contents_.last, FrameType::kState));
    innocent = !follows;
  }
  if (!GUARD("file.state-torn-last-only", innocent)) {
    return Damage(contents_.size, why);
  }
  contents_.torn_bytes = size - contents_.size;
  contents_.torn_why = why;
  return absl::OkStatus();
}

}  // namespace

std::size_t EncodedSize(const memory::RowKey& key, const memory::Row* row) {
  return kChangeHeaderBytes + key.key.size() +
         (row == nullptr ? 0 : kPutFixedBytes + row->value.size());
}

EncodedFrame EncodeStateFrame(const SegmentHeader& header, Tx number, FrameDigest previous,
                              std::span<const StateChange> changes) {
  std::size_t size = kFrameHeaderBytes + kFrameTrailerBytes;
  for (const StateChange& change : changes) {
    size += EncodedSize(change.key, change.row.has_value() ? &*change.row : nullptr);
  }
  EncodedFrame frame;
  frame.bytes.reserve(size);
  AppendFrameHeader(header.marker, FrameType::kState,
                    {.length = static_cast<std::uint32_t>(size),
                     .tx = number,
                     .previous = previous,
                     .rows = static_cast<std::uint32_t>(changes.size()),
                     .body = {},
                     .digest = {}},
                    frame.bytes);
  for (const StateChange& change : changes) {
    AppendChange(change, frame.bytes);
  }
  frame.digest = SealFrame(frame.bytes);
  return frame;
}

std::optional<std::vector<StateChange>> DecodeStateChanges(std::string_view body,
                                                           std::uint32_t count) {
  std::vector<StateChange> changes;
  for (std::uint32_t i = 0; i < count; ++i) {
    std::optional<StateChange> change = TakeChange(body);
    if (!change.has_value()) {
      return std::nullopt;
    }
    changes.push_back(*std::move(change));
  }
  return body.empty() && count > 0 ? std::optional(std::move(changes)) : std::nullopt;
}

absl::StatusOr<StateContents> ReadState(const Directory& directory) {
  ASSIGN_OR_RETURN(const std::vector<std::uint64_t> generations, directory.States());
  if (generations.empty()) {
    return StateContents{};
  }
  return StateReader(directory, generations.back()).Read();
}

EncodedState EncodeState(const SegmentHeader& header, const memory::RowTable& rows) {
  EncodedState state;
  state.bytes = EncodeSegmentHeader(header, FrameType::kState);
  std::vector<StateChange> changes;
  std::size_t size = 0;
  const auto close = [&] {
    const EncodedFrame frame =
        EncodeStateFrame(header, Next(state.last), state.digest, std::exchange(changes, {}));
    state.bytes += frame.bytes;
    state.last = Next(state.last);
    state.digest = frame.digest;
    size = 0;
  };
  for (const auto& [key, row] : rows.all()) {
    changes.push_back({key, row});
    size += EncodedSize(key, &row);
    if (size >= kRewriteFrameBytes) {
      close();
    }
  }
  if (!changes.empty()) {
    close();
  }
  return state;
}

}  // namespace engine::file
