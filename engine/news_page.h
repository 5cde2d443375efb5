// NewsPage gathers the rows of one piece of news and, when they do not fit a page, cuts them to
// whole transactions.
//
// For backends: add rows stream by stream, each stream ascending; stop with a stream when Add says
// so. One thread; never blocks.

#pragma once

#include <cstddef>
#include <optional>

#include "engine/journal.h"

namespace engine {

class NewsPage {
 public:
  explicit NewsPage(Cursors after, std::size_t page_bytes = kNewsPageBytes);

  // Takes the next row of a stream. False: the page has no room for it, leave the rest of this
  // stream out. Every stream may fill a page of its own before the cut, so that a long stream
  // cannot starve the others.
  bool Add(Record row);

  // Leaves a stream out altogether: its floor lies above the cursor.
  void Leave(StreamId stream) { news_.compacted.push_back(stream); }

  // The rows of the transactions that are whole: of every stream that was cut short, those before
  // the transaction of its first row left out.
  News Finish() &&;

 private:
  News news_;
  const std::size_t page_bytes_;
  StreamId stream_ = StreamId::kInvalid;
  std::size_t stream_bytes_ = 0;
  std::optional<Tx> first_left_out_;
};

}  // namespace engine
