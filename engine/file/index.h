// Index knows where every row lies: a segment and an offset for each position of each stream.
//
// 8 bytes a row above the stream's floor, 16 at or below it, no payloads. Thread-compatible.

#pragma once

#include <cstdint>
#include <deque>
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

  bool Has(StreamId stream) const;
  // REQUIRES: the stream is in the catalogue. Rows are added in the order of their positions. Only
  // at or below `floor` positions may be left out.
  void Add(StreamId stream, Position position, Locator where, Position floor);
  // The rows of `from` to `through` that there are, at most `limit` of them.
  std::vector<LocatedRow> Range(StreamId stream, Position from, Position through,
                                std::size_t limit) const;
  // The floor rises to `floor`, and the rows `removed` (ascending, all below it) are not there any
  // more.
  void Compact(StreamId stream, Position floor, const std::vector<Position>& removed);
  // A row lies elsewhere now. REQUIRES: it is there.
  void Move(StreamId stream, Position position, Locator where);

 private:
  struct Rows {
    StreamId stream = StreamId::kInvalid;
    std::vector<LocatedRow> sparse;                 // At or below the floor, ascending.
    Position dense_after = Position::kBeforeFirst;  // `dense` starts with the position behind it.
    std::deque<Locator> dense;                      // A deque grows without copying.
  };
  const Rows* Find(StreamId stream) const;
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
