#include "engine/file/floors.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "engine/file/damage.h"
#include "engine/file_head.h"

namespace engine::file {
namespace {

constexpr char kName[] = "floors";
constexpr FileFormat kFormat{.magic = "HALOFLRS", .version = 1, .name = "the list of floors"};
constexpr std::size_t kStreamBytes = 48;
// Many millions of dead rows; what is larger is no list of ours.
constexpr std::size_t kMaxBytes = std::size_t{256} << 20;

// Seven bits a byte, lowest first; the last byte has no high bit.
void AppendVarint(std::uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) {
    AppendU8(static_cast<std::uint8_t>(value | 0x80), out);
  }
  AppendU8(static_cast<std::uint8_t>(value), out);
}

// Takes a number off `bytes`; empty when there is none.
std::optional<std::uint64_t> TakeVarint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size() && i < 9; ++i) {
    const auto byte = static_cast<std::uint8_t>(bytes[i]);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << (7 * i);
    if ((byte & 0x80) == 0) {
      bytes.remove_prefix(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

absl::StatusOr<StreamFloor> TakeStream(std::string_view& bytes) {
  if (bytes.size() < kStreamBytes) {
    return Damaged(kFormat, "it is cut off");
  }
  StreamFloor stream{.stream = StreamId{ReadU32(bytes)},
                     .floor = {.position = Position{ReadU64(bytes.substr(8))},
                               .digest = Digest{ReadU64(bytes.substr(16))},
                               .rows = ReadU64(bytes.substr(24)),
                               .sum = ReadU64(bytes.substr(32))},
                     .dead = {}};
  const std::uint64_t count = ReadU64(bytes.substr(40));
  bytes.remove_prefix(kStreamBytes);
  if (count > bytes.size()) {
    return Damaged(kFormat, "its number of dead rows is impossible");
  }
  stream.dead.reserve(count);
  std::uint64_t position = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::optional<std::uint64_t> delta = TakeVarint(bytes);
    if (!delta.has_value() || *delta == 0 || *delta >= Raw(stream.floor.position) - position) {
      return Damaged(kFormat, "a dead row is not where one can be");
    }
    position += *delta;
    stream.dead.push_back(Position{position});
  }
  return stream;
}

}  // namespace

const StreamFloor* Floors::Find(StreamId stream) const {
  const auto found = std::ranges::find(streams_, stream, &StreamFloor::stream);
  return found == streams_.end() ? nullptr : &*found;
}

Floor Floors::Of(StreamId stream) const {
  const StreamFloor* found = Find(stream);
  return found == nullptr ? Floor() : found->floor;
}

bool Floors::IsDead(StreamId stream, Position position) const {
  const StreamFloor* found = Find(stream);
  return found != nullptr && std::ranges::binary_search(found->dead, position);
}

std::uint64_t Floors::CountDead(StreamId stream, Position first, Position last) const {
  const StreamFloor* found = Find(stream);
  return found == nullptr
             ? 0
             : static_cast<std::uint64_t>(std::ranges::upper_bound(found->dead, last) -
                                          std::ranges::lower_bound(found->dead, first));
}

Floors Floors::Raised(StreamId stream, const Floor& floor,
                      const std::vector<Position>& removed) const {
  std::vector<StreamFloor> streams = streams_;
  auto place = std::ranges::lower_bound(streams, stream, {}, &StreamFloor::stream);
  if (place == streams.end() || place->stream != stream) {
    place = streams.insert(place, {.stream = stream, .floor = {}, .dead = {}});
  }
  std::vector<Position> dead;
  dead.reserve(place->dead.size() + removed.size());
  std::ranges::merge(place->dead, removed, std::back_inserter(dead));
  place->floor = floor;
  place->dead = std::move(dead);
  return Floors(std::move(streams));
}

Floors Floors::Without(const std::vector<StreamFloor>& gone) const {
  std::vector<StreamFloor> streams = streams_;
  for (const StreamFloor& of : gone) {
    const auto stream = std::ranges::find(streams, of.stream, &StreamFloor::stream);
    if (stream == streams.end()) {
      continue;
    }
    std::vector<Position> left;
    std::ranges::set_difference(stream->dead, of.dead, std::back_inserter(left));
    stream->dead = std::move(left);
  }
  return Floors(std::move(streams));
}

std::string Floors::Encode() const {
  std::string bytes = FileHead(kFormat, streams_.size());
  for (const StreamFloor& stream : streams_) {
    AppendU32(static_cast<std::uint32_t>(stream.stream), bytes);
    AppendU32(0, bytes);
    AppendU64(Raw(stream.floor.position), bytes);
    AppendU64(Raw(stream.floor.digest), bytes);
    AppendU64(stream.floor.rows, bytes);
    AppendU64(stream.floor.sum, bytes);
    AppendU64(stream.dead.size(), bytes);
    std::uint64_t before = 0;
    for (const Position dead : stream.dead) {
      AppendVarint(Raw(dead) - before, bytes);
      before = Raw(dead);
    }
  }
  AppendChecksum(bytes);
  return bytes;
}

absl::StatusOr<Floors> Floors::Decode(std::string_view bytes) {
  RETURN_IF_ERROR(CheckMagic(kFormat, bytes));
  if (!GUARD("file.floors-checksum", EndsWithChecksum(bytes))) {
    return Damaged(kFormat, "its checksum is wrong");
  }
  RETURN_IF_ERROR(CheckVersion(kFormat, bytes));
  std::string_view rest = FileBody(bytes);
  std::vector<StreamFloor> streams;
  for (std::uint32_t i = 0; i < FileCount(bytes); ++i) {
    ASSIGN_OR_RETURN(StreamFloor stream, TakeStream(rest));
    if (!streams.empty() && streams.back().stream >= stream.stream) {
      return Damaged(kFormat, "its streams are not in order");
    }
    streams.push_back(std::move(stream));
  }
  return rest.empty() ? absl::StatusOr<Floors>(Floors(std::move(streams)))
                      : Damaged(kFormat, "something follows its end");
}

absl::StatusOr<Floors> Floors::Read(const Directory& directory) {
  const absl::StatusOr<std::string> bytes = directory.ReadFile(kName, kMaxBytes);
  if (absl::IsNotFound(bytes.status())) {
    return Floors();
  }
  RETURN_IF_ERROR(bytes.status());
  absl::StatusOr<Floors> floors = Decode(*bytes);
  if (!floors.ok()) {
    return ErrorAt(directory.path() + "/" + kName, 0, floors.status());
  }
  return floors;
}

absl::Status Floors::Write(const Directory& directory) const {
  return directory.Replace(kName, Encode()).status();
}

}  // namespace engine::file
