// Floors is what compaction made of a data directory: each stream's floor, and the rows at or
// below it that are removed but still lie in a segment. They are kept in one file, `floors`, which
// is replaced as a whole: a step of compaction is done when the new file is in its place.
//
// Byte table and example: docs/formats/floors.md. Immutable once made, so thread-safe; the
// functions of the file block on the disk.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/file/directory.h"
#include "engine/journal.h"

namespace engine::file {

struct StreamFloor {
  StreamId stream = StreamId::kInvalid;
  Floor floor;
  std::vector<Position> dead;  // Ascending. Not there for any reader.
  friend bool operator==(const StreamFloor&, const StreamFloor&) = default;
};

class Floors {
 public:
  Floors() = default;
  // REQUIRES: ascending by stream.
  explicit Floors(std::vector<StreamFloor> streams) : streams_(std::move(streams)) {}

  // Of streams that were never compacted the floor is kBeforeFirst.
  Floor Of(StreamId stream) const;
  bool IsDead(StreamId stream, Position position) const;
  // From `first` to `last`.
  std::uint64_t CountDead(StreamId stream, Position first, Position last) const;
  const std::vector<StreamFloor>& streams() const { return streams_; }

  // With a stream's floor raised and `removed` dead. REQUIRES: `removed` is ascending.
  Floors Raised(StreamId stream, const Floor& floor, const std::vector<Position>& removed) const;
  // Without the dead rows that `gone` says, which lie in no segment any more.
  Floors Without(const std::vector<StreamFloor>& gone) const;

  std::string Encode() const;
  // Fails with kDataLoss (damage) or kFailedPrecondition (intact, of another version).
  static absl::StatusOr<Floors> Decode(std::string_view bytes);

  // Without a file there was no compaction. Fails as Decode and Directory::ReadFile do.
  static absl::StatusOr<Floors> Read(const Directory& directory);
  // Fails with kUnavailable (nothing changed) or kInternal (a sync failed).
  absl::Status Write(const Directory& directory) const;

  friend bool operator==(const Floors&, const Floors&) = default;

 private:
  const StreamFloor* Find(StreamId stream) const;

  std::vector<StreamFloor> streams_;
};

}  // namespace engine::file
