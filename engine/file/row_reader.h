// RowReader reads single rows from segments by their place, StreamReader the rows of one stream
// in order; both believe no byte that they have not verified.
//
// One thread each. Calls block on the disk.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include <absl/status/statusor.h>

#include "engine/file/directory.h"
#include "engine/file/format.h"

namespace engine::file {

// Where a row lies.
struct Place {
  Position position = Position::kBeforeFirst;  // Of the row.
  SegmentId segment;
  std::uint32_t offset = 0;
};

class RowReader {
 public:
  // `directory` must outlive the reader.
  explicit RowReader(const Directory& directory) : directory_(directory) {}

  // The row at `where`, which points into the reader and is valid until the next call. Fails with
  // kDataLoss when the row's checksum is wrong or it is cut off, with kNotFound when the segment is
  // gone, perhaps written anew meanwhile.
  absl::StatusOr<RowView> Read(Place where);

 private:
  // `size` bytes from `offset` on, or what there is of them.
  absl::StatusOr<std::string_view> Look(std::uint64_t offset, std::size_t size);

  const Directory& directory_;
  SegmentId segment_;  // The one that is open.
  Fd file_;
  std::vector<char> buffer_;
  std::uint64_t buffer_offset_ = 0;
  std::size_t buffered_ = 0;
  std::size_t read_bytes_ = 4096;  // Of the next read; grows while reading goes on.
};

class StreamReader {
 public:
  enum class Gaps : bool { kNo = false, kYes = true };
  // Gives the places of up to `limit` of the rows that there are, from `from` on; none only when
  // there is none.
  using FindPlaces =
      std::function<absl::StatusOr<std::vector<Place>>(Position from, std::size_t limit)>;

  // Reads the rows from `from` to `through` that there are; unless there may be gaps, all have to
  // be. `directory` must outlive the reader.
  StreamReader(const Directory& directory, StreamId stream, Position from, Position through,
               Gaps gaps, FindPlaces find);

  // The next row; empty after the last one. Fails with kDataLoss, naming stream and position,
  // when the row is not what was written: its checksum, its digest over the row before it, its
  // stream and its position are compared. Fails with kAborted where there is a gap and may be
  // none: the stream was compacted meanwhile.
  absl::StatusOr<std::optional<Record>> Next();

 private:
  absl::StatusOr<std::optional<RowView>> ReadNext();
  absl::StatusOr<std::vector<Place>> Find(std::size_t limit) const;
  absl::Status ReadBefore();
  absl::Status Damage(std::string_view why) const;

  const StreamId stream_;
  const Position through_;
  const Gaps gaps_;
  const FindPlaces find_;
  RowReader rows_;
  Position next_;
  bool started_ = false;
  // Of the row before `next_`; empty when that is not there.
  std::optional<Digest> digest_ = Digest::kEmpty;
  std::deque<Place> places_;  // From `next_` on.
};

}  // namespace engine::file
