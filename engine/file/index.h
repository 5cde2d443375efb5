// Index knows where every row lies: a segment and an offset for each position of each stream.
//
// 8 bytes a row, no payloads. Thread-compatible.

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

class Index {
 public:
  explicit Index(const Catalogue& catalogue);

  bool Has(StreamId stream) const;
  // REQUIRES: the stream is in the catalogue. Rows are added in the order of their positions.
  void Add(StreamId stream, Locator where);
  // The places of the rows of `from` to `through`, at most `limit` of them. REQUIRES: there are
  // rows up to `through`.
  std::vector<Locator> Range(StreamId stream, Position from, Position through,
                             std::size_t limit) const;
  // REQUIRES: there is such a row.
  Locator At(StreamId stream, Position position) const;

 private:
  struct Rows {
    StreamId stream = StreamId::kInvalid;
    std::deque<Locator> where;  // Of position i + 1. A deque grows without copying.
  };
  const Rows* Find(StreamId stream) const;

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
