#include "api/dispatch/recent.h"

#include <algorithm>

#include "engine/base/guard.h"

namespace api {
namespace {

std::size_t CostOf(const RecentRecord& row) {
  // The text that is made of it is about as long again. What a tombstone held before may be held
  // by nobody else any more.
  return 2 * engine::RowCost(row.record.key.size(), row.record.payload.size()) + row.before.size();
}

bool ComesBefore(const engine::Record& a, const engine::Record& b) {
  return a.tx != b.tx ? a.tx < b.tx : a.stream < b.stream;
}

}  // namespace

const std::string& RecentRecord::Text(
    const std::function<std::string(const engine::Record&)>& make) const {
  engine::MutexLock lock(mutex_);
  if (!text_) {
    text_ = make(record);
  }
  return *text_;
}

void Recent::Start(const engine::View& view, FindState find_state) {
  engine::MutexLock lock(mutex_);
  find_state_ = std::move(find_state);
  for (const engine::StreamView& stream : view.streams) {
    Stream& known = streams_[stream.stream];
    Clear(known);
    known.end = {stream.stream, stream.position, stream.digest};
    known.is_rebuilding = stream.rebuilding != engine::Rebuilding::kNo;
  }
}

void Recent::Fold(const engine::Record& record) {
  engine::MutexLock lock(mutex_);
  folded_.push_back(std::make_shared<RecentRecord>(record, StateBefore(record)));
}

// Of a key that came and went between two views no view tells.
engine::Payload Recent::StateBefore(const engine::Record& record) {
  if (record.key.empty()) {
    return {};
  }
  const std::string key = std::to_string(engine::Raw(record.stream)) + "/" + record.key;
  if ((record.flags & engine::kTombstone) == 0) {
    folded_states_[key] = record.payload;
    return {};
  }
  const auto folded = folded_states_.extract(key);
  if (!folded.empty()) {
    return folded.mapped();
  }
  return find_state_ ? find_state_(record) : engine::Payload();
}

void Recent::Publish(const engine::View& view) {
  std::vector<std::function<void()>> wakes;
  {
    engine::MutexLock lock(mutex_);
    for (const RecentPtr& row : folded_) {
      Add(row);
    }
    folded_.clear();
    folded_states_.clear();
    for (const engine::StreamView& stream : view.streams) {
      Stream& known = streams_[stream.stream];
      const engine::StreamCursor end = {stream.stream, stream.position, stream.digest};
      const bool is_rebuilding = stream.rebuilding != engine::Rebuilding::kNo;
      const bool is_here = known.end == end && is_rebuilding == known.is_rebuilding;
      if (!GUARD("recent.rebuilt", is_here)) {
        Clear(known);  // It came to where it is by another way than record by record.
        known.end = end;
        known.is_rebuilding = is_rebuilding;
        ++generation_;
      }
    }
    Trim();
    wakes.reserve(wakes_.size());
    for (const auto& [subscription, wake] : wakes_) {
      wakes.push_back(wake);
    }
  }
  for (const std::function<void()>& wake : wakes) {
    wake();
  }
}

void Recent::Add(const RecentPtr& row) {
  const engine::Record& record = row->record;
  Stream& stream = streams_[record.stream];
  if (record.position != engine::Next(stream.end.position)) {
    Clear(stream);
    ++generation_;
  }
  stream.rows.push_back(row);
  stream.end = {record.stream, record.position, record.digest};
  bytes_ += CostOf(*row);
}

void Recent::Clear(Stream& stream) {
  for (const RecentPtr& row : stream.rows) {
    bytes_ -= CostOf(*row);
  }
  stream.rows.clear();
}

// The oldest first, whichever stream it is of.
void Recent::Trim() {
  while (!GUARD("recent.bounded", bytes_ <= max_bytes_)) {
    Stream* oldest = nullptr;
    for (auto& [id, stream] : streams_) {
      if (!stream.rows.empty() &&
          (oldest == nullptr ||
           ComesBefore(stream.rows.front()->record, oldest->rows.front()->record))) {
        oldest = &stream;
      }
    }
    if (oldest == nullptr) {
      return;
    }
    bytes_ -= CostOf(*oldest->rows.front());
    oldest->rows.pop_front();
  }
}

Recent::Step Recent::Next(const engine::Cursors& after) const {
  engine::MutexLock lock(mutex_);
  Step step;
  for (const engine::StreamCursor& cursor : after) {
    const Stream& stream = streams_.at(cursor.stream);
    if (stream.is_rebuilding) {
      return {Reach::kRebuilt};
    }
    if (cursor.position >= stream.end.position) {
      continue;  // On another replica its client has seen more than this one knows.
    }
    const engine::Position next = engine::Next(cursor.position);
    if (stream.rows.empty() || stream.rows.front()->record.position > next) {
      return {Reach::kBehind};
    }
    const std::size_t index = engine::Raw(next) - engine::Raw(stream.rows.front()->record.position);
    const RecentPtr& row = stream.rows[index];
    if (step.record == nullptr || ComesBefore(row->record, step.record->record)) {
      step = {Reach::kRecord, row};
    }
  }
  return step;
}

std::optional<engine::Digest> Recent::DigestAt(const Stream& stream, engine::Position position) {
  if (position == stream.end.position) {
    return stream.end.digest;
  }
  if (stream.rows.empty() || position > stream.end.position) {
    return std::nullopt;
  }
  const engine::Position first = stream.rows.front()->record.position;
  if (position == engine::Position::kBeforeFirst && engine::Next(position) == first) {
    return engine::Digest::kEmpty;
  }
  if (position < first) {
    return std::nullopt;
  }
  return stream.rows[engine::Raw(position) - engine::Raw(first)]->record.digest;
}

std::optional<bool> Recent::Agrees(const engine::Cursors& cursors) const {
  engine::MutexLock lock(mutex_);
  for (const engine::StreamCursor& cursor : cursors) {
    const auto stream = streams_.find(cursor.stream);
    const auto digest =
        stream == streams_.end() ? std::nullopt : DigestAt(stream->second, cursor.position);
    if (!digest) {
      return std::nullopt;
    }
    if (!GUARD("recent.digest", *digest == cursor.digest)) {
      return false;
    }
  }
  return true;
}

std::uint64_t Recent::generation() const {
  engine::MutexLock lock(mutex_);
  return generation_;
}

std::uint64_t Recent::Subscribe(std::function<void()> wake) {
  engine::MutexLock lock(mutex_);
  wakes_.emplace(++last_subscription_, std::move(wake));
  return last_subscription_;
}

void Recent::Unsubscribe(std::uint64_t subscription) {
  engine::MutexLock lock(mutex_);
  wakes_.erase(subscription);
}

}  // namespace api
