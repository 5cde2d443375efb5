// How FileJournal is read.

#include <algorithm>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/status_macros.h"
#include "engine/file/journal.h"
#include "engine/file/scan.h"
#include "engine/news_page.h"

namespace engine::file {
namespace {

absl::Status CheckDeadline(Deadline deadline) {
  return deadline.HasPassed() ? absl::DeadlineExceededError("reading the journal")
                              : absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<Place>> FileJournal::Places(StreamId stream, Position from,
                                                       Position through, std::size_t limit) const {
  while (true) {
    State::Places places = state_.Locate(stream, from, through, limit);
    if (!places.rows.empty() || !places.unread.has_value()) {
      return std::move(places.rows);
    }
    RETURN_IF_ERROR(ReadUnread(*places.unread));
  }
}

// A segment that was closed before this process began, at the first question about its rows.
absl::Status FileJournal::ReadUnread(std::uint32_t segment) const {
  MutexLock lock(reading_);
  const std::optional<UnreadSegment> unread = state_.Unread(segment);
  if (!unread.has_value()) {
    return absl::OkStatus();
  }
  absl::StatusOr<Index> rows = file::ReadUnread(*directory_, catalogue(), *unread);
  if (rows.ok()) {
    state_.ShowRead(*unread, *std::move(rows));
    return absl::OkStatus();
  }
  // One that was written anew meanwhile is found under its new name.
  const std::optional<UnreadSegment> now = state_.Unread(segment);
  const bool is_replaced = !now.has_value() || now->facts.id != unread->facts.id;
  return absl::IsNotFound(rows.status()) && is_replaced ? absl::OkStatus() : rows.status();
}

StreamReader FileJournal::ReaderOf(StreamId stream, Position from, Position through,
                                   StreamReader::Gaps gaps) const {
  return {*directory_,
          stream,
          from,
          through,
          gaps,
          [this, stream, through](Position first, std::size_t limit) {
            return Places(stream, first, through, limit);
          }};
}

absl::StatusOr<News> FileJournal::ReadAfter(const Cursors& after, Deadline deadline) {
  absl::StatusOr<News> news = ReadDeltas(after, deadline);
  while (absl::IsAborted(news.status())) {
    news = ReadDeltas(after, deadline);  // A floor passed the cursor; now that is told.
  }
  return news;
}

absl::StatusOr<News> FileJournal::ReadDeltas(const Cursors& after, Deadline deadline) {
  NewsPage page(after);
  ASSIGN_OR_RETURN(std::vector<State::Delta> deltas, state_.DeltasAfter(after));
  for (State::Delta& delta : deltas) {
    if (delta.compacted) {
      page.Leave(delta.after.stream);
      continue;
    }
    if (delta.after.position >= delta.through) {
      continue;
    }
    RETURN_IF_ERROR(CheckDeadline(deadline));
    bool room = true;
    for (std::size_t i = 0; i < delta.rows.size() && room; ++i) {
      room = page.Add(std::move(delta.rows[i]));
    }
    if (!delta.rows.empty()) {
      continue;
    }
    StreamReader reader = ReaderOf(delta.after.stream, Next(delta.after.position), delta.through,
                                   StreamReader::Gaps::kNo);
    while (room) {
      ASSIGN_OR_RETURN(std::optional<Record> row, reader.Next());
      room = row.has_value() && page.Add(*std::move(row));
    }
  }
  News news = std::move(page).Finish();
  news.origin = FileOrigin();
  return news;
}

absl::StatusOr<std::vector<Record>> FileJournal::ReadStream(StreamId stream, Position from,
                                                            int limit, Deadline deadline) {
  RETURN_IF_ERROR(CheckDeadline(deadline));
  const std::vector<StreamTail> tails = state_.Tails();
  const auto tail = std::ranges::find(tails, stream, &StreamTail::stream);
  if (tail == tails.end()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("stream %d is not in the catalogue", Raw(stream)));
  }
  std::vector<Record> rows;
  const Position first = std::max(from, Position{1});
  if (first > tail->position) {
    return rows;
  }
  StreamReader reader = ReaderOf(stream, first, tail->position, StreamReader::Gaps::kYes);
  std::size_t bytes = 0;
  while (rows.size() < static_cast<std::size_t>(limit) && bytes < kNewsPageBytes) {
    ASSIGN_OR_RETURN(std::optional<Record> row, reader.Next());
    if (!row.has_value()) {
      break;
    }
    bytes += row->payload.size();
    rows.push_back(*std::move(row));
  }
  return rows;
}

absl::StatusOr<std::vector<StreamTail>> FileJournal::Tails(Deadline deadline) {
  RETURN_IF_ERROR(CheckDeadline(deadline));
  return state_.Tails();
}

absl::Status FileJournal::Scan(const ScanOptions& options, const RowSink& sink, Deadline deadline) {
  const State::Pin pin(state_);
  const State::Cut cut = state_.Now();
  if (options.on_tails) {
    RETURN_IF_ERROR(options.on_tails(cut.tails));
  }
  // The first row that is asked for tells the segment to begin with.
  std::optional<Tx> first;
  for (const StreamCursor& cursor : options.after) {
    const auto tail = std::ranges::find(cut.tails, cursor.stream, &StreamTail::stream);
    if (tail == cut.tails.end()) {
      return absl::InvalidArgumentError(
          absl::StrFormat("stream %d is not in the catalogue", Raw(cursor.stream)));
    }
    if (cursor.position < tail->position) {
      const std::optional<Tx> segment = state_.SegmentOf(cursor.stream, Next(cursor.position));
      first = std::min(first.value_or(*segment), *segment);
    }
  }
  if (!first.has_value()) {
    return absl::OkStatus();
  }
  ScanRange range{.segments = state_.Segments(), .end = cut.end, .floors = cut.floors};
  range.segments.erase(range.segments.begin(),
                       std::ranges::find(range.segments, *first, &SegmentId::first));
  return ScanSegments(*directory_, range, options, sink, deadline);
}

}  // namespace engine::file
