// Index knows where every row lies: a segment and an offset for each position of each stream. Of a
// segment that was not read yet it knows only the range of positions.
//
// 8 bytes a row, no payloads. Thread-compatible.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "engine/journal.h"

namespace engine::file {

struct Locator {
  std::uint32_t segment = 0;  // Its number in the list of segments.
  std::uint32_t offset = 0;   // Of the row in the segment.
};

struct LocatedRow {
  Position position = Position::kBeforeFirst;
  Locator where;
};

class Index {
 public:
  explicit Index(const Catalogue& catalogue);

  // In all calls the stream is in the catalogue (REQUIRES), and what is added lies behind what is
  // there, in position and in segment.
  bool Has(StreamId stream) const;
  void Add(StreamId stream, Position position, Locator where);
  // A segment that was not read: its rows are somewhere from `first` to `last`.
  void AddUnread(StreamId stream, std::uint32_t segment, Position first, Position last);

  struct Range {
    std::vector<LocatedRow> rows;
    // Where they end because this segment has to be read first.
    std::optional<std::uint32_t> unread;
  };
  // The rows of `from` to `through` that there are, at most `limit` of them.
  Range Find(StreamId stream, Position from, Position through, std::size_t limit) const;
  // The segment with the first row from `from` on, if there can be one.
  std::optional<std::uint32_t> SegmentOf(StreamId stream, Position from) const;
  bool IsRead(std::uint32_t segment) const;

  // The rows of the segment are now those that `rows` has, whatever segments it puts them in.
  void Replace(std::uint32_t segment, Index rows);
  // The rows `removed` (ascending) are not there any more; how many that were, by segment.
  std::map<std::uint32_t, std::uint64_t> Remove(StreamId stream,
                                                const std::vector<Position>& removed);

 private:
  struct Row {
    std::uint32_t delta = 0;  // Behind the first position of the part.
    std::uint32_t offset = 0;
  };
  // The rows of one segment.
  struct Part {
    std::uint32_t segment = 0;
    Position first = Position::kBeforeFirst;
    Position last = Position::kBeforeFirst;
    bool is_read = true;
    std::deque<Row> rows;  // A deque grows without copying.

    Position At(const Row& row) const { return Position{Raw(first) + row.delta}; }
  };
  struct Rows {
    StreamId stream = StreamId::kInvalid;
    std::vector<Part> parts;  // Ascending by segment and position.
  };
  const Rows* Of(StreamId stream) const;
  Rows& At(StreamId stream);

  std::vector<Rows> streams_;
};
// The newest rows of the journal, ready to hand out: who follows closely costs no read.
//
// Thread-compatible.
class RecentRows {
 public:
  explicit RecentRows(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  void Add(const Record& row);
  // The rows of `stream` after `after`, oldest first, if they are all here; else nothing.
  // `count` is how many there are.
  std::vector<Record> After(StreamId stream, Position after, std::size_t count) const;

 private:
  static std::size_t Size(const Record& row);
  void DropOldest();

  struct Rows {
    StreamId stream = StreamId::kInvalid;
    std::deque<Record> rows;
  };

  const std::size_t max_bytes_;
  std::size_t bytes_ = 0;
  std::vector<Rows> streams_;
  std::deque<StreamId> order_;  // Of all rows, oldest first.
};

}  // namespace engine::file
