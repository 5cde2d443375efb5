#include "engine/file/state.h"

#include <algorithm>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/append_check.h"
#include "engine/base/guard.h"

namespace engine::file {
namespace {

// More than a second of busy writing, less than anyone notices.
constexpr std::size_t kRecentBytes = std::size_t{4} << 20;

// A segment is written anew when one row of this many is dead: then each row that stays is copied
// a few times in its life.
constexpr std::uint64_t kDeadPart = 4;

}  // namespace

State::State(Catalogue catalogue, Contents contents)
    : catalogue_(std::move(catalogue)),
      segments_(std::move(contents.segments)),
      counts_(std::move(contents.counts)),
      index_(std::move(contents.index)),
      recent_(kRecentBytes),
      tails_(std::move(contents.tails)),
      end_(contents.end),
      answers_(std::move(contents.answers)),
      floors_(std::make_shared<const Floors>(std::move(contents.floors))) {}

State::Cut State::Now() const {
  MutexLock lock(mutex_);
  return {tails_, end_, floors_};
}

std::vector<SegmentId> State::Segments() const {
  MutexLock lock(mutex_);
  return segments_;
}

HeadMark State::End() const {
  MutexLock lock(mutex_);
  return end_;
}

std::vector<StreamTail> State::Tails() const {
  MutexLock lock(mutex_);
  return tails_;
}

const StreamTail* State::FindTail(StreamId stream) const {
  const auto found = std::ranges::find(tails_, stream, &StreamTail::stream);
  return found == tails_.end() ? nullptr : &*found;
}

absl::StatusOr<std::vector<State::Delta>> State::DeltasAfter(const Cursors& after) const {
  std::vector<Delta> deltas;
  deltas.reserve(after.size());
  MutexLock lock(mutex_);
  for (const StreamCursor& cursor : after) {
    const StreamTail* tail = FindTail(cursor.stream);
    if (tail == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrFormat("stream %d is not in the catalogue", Raw(cursor.stream)));
    }
    Delta delta{.after = cursor, .through = tail->position, .rows = {}};
    delta.compacted = !GUARD("file.below-floor", Next(cursor.position) >= tail->floor.position);
    if (cursor.position < tail->position && !delta.compacted) {
      delta.rows =
          recent_.After(cursor.stream, cursor.position, Raw(tail->position) - Raw(cursor.position));
    }
    deltas.push_back(std::move(delta));
  }
  return deltas;
}

std::vector<Place> State::Places(StreamId stream, Position from, Position through,
                                 std::size_t limit) const {
  std::vector<Place> places;
  MutexLock lock(mutex_);
  for (const LocatedRow& row : index_.Range(stream, from, through, limit)) {
    places.push_back({row.position, segments_[row.where.segment], row.where.offset});
  }
  return places;
}

void State::Publish(const SegmentLog::Appended& appended, const Appending& appending) {
  const std::span<const Record> rows = appending.rows;
  MutexLock lock(mutex_);
  if (segments_.back().first != appended.end.segment) {
    segments_.push_back({.first = appended.end.segment});
    counts_.emplace_back();
  }
  counts_.back().rows += rows.size();
  const auto segment = static_cast<std::uint32_t>(segments_.size() - 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    index_.Add(rows[i].stream, rows[i].position, {segment, appended.offsets[i]},
               Position::kBeforeFirst);
    recent_.Add(rows[i]);
  }
  tails_ = TailsAfter(catalogue_, std::move(tails_), rows);
  end_ = appended.end;
  for (const KeptAnswer& answer : appending.answers) {
    answers_.Add(answer);
  }
}

std::vector<KeptAnswer> State::Answers(std::span<const std::string> keys) const {
  MutexLock lock(mutex_);
  return answers_.Find(keys);
}

bool State::HasAnyAnswer(std::span<const KeptAnswer> answers) const {
  MutexLock lock(mutex_);
  return answers_.HasAny(answers);
}

std::size_t State::PruneAnswers(Timestamp before, std::size_t limit) {
  MutexLock lock(mutex_);
  return answers_.Prune(before, limit);
}

void State::Compact(StreamId stream, const std::vector<Position>& removed, Floors floors) {
  auto shared = std::make_shared<const Floors>(std::move(floors));
  MutexLock lock(mutex_);
  const Floor floor = shared->Of(stream);
  for (const Position position : removed) {
    for (const LocatedRow& row : index_.Range(stream, position, position, 1)) {
      ++counts_[row.where.segment].dead;
    }
  }
  index_.Compact(stream, floor.position, removed);
  std::ranges::find(tails_, stream, &StreamTail::stream)->floor = floor;
  floors_ = std::move(shared);
}

std::optional<SegmentId> State::Sparsest() const {
  MutexLock lock(mutex_);
  if (IsPinned()) {
    return std::nullopt;
  }
  std::optional<std::size_t> sparsest;
  const auto part = [this](std::size_t i) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return static_cast<double>(counts_[i].dead) / static_cast<double>(counts_[i].rows);
  };
  for (std::size_t i = 0; i + 1 < segments_.size(); ++i) {
    const bool worth = counts_[i].dead > 0 && counts_[i].dead * kDeadPart >= counts_[i].rows;
    if (worth && (!sparsest.has_value() || part(i) > part(*sparsest))) {
      sparsest = i;
    }
  }
  return sparsest.has_value() ? std::optional(segments_[*sparsest]) : std::nullopt;
}

bool State::Replace(const RewrittenSegment& segment, Floors floors) {
  auto shared = std::make_shared<const Floors>(std::move(floors));
  MutexLock lock(mutex_);
  if (IsPinned()) {
    return false;
  }
  const auto place = std::ranges::find(segments_, segment.id.first, &SegmentId::first);
  const auto number = static_cast<std::uint32_t>(place - segments_.begin());
  *place = segment.id;
  for (const MovedRow& row : segment.rows) {
    index_.Move(row.stream, row.position, {number, row.offset});
  }
  counts_[number] = {.rows = segment.rows.size(), .dead = 0};
  floors_ = std::move(shared);
  return true;
}

bool State::IsPinned() const {
  return !GUARD("file.pinned-segments", scans_ == 0);
}

void State::Count(int scans) {
  MutexLock lock(mutex_);
  scans_ += scans;
}

void State::SetLastPayload(StreamId stream, Payload payload) {
  MutexLock lock(mutex_);
  const auto tail = std::ranges::find(tails_, stream, &StreamTail::stream);
  if (tail != tails_.end()) {
    tail->last_payload = std::move(payload);
  }
}

}  // namespace engine::file
