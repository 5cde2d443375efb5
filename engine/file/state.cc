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
      facts_(std::move(contents.facts)),
      dead_(std::move(contents.dead)),
      is_sealed_(contents.is_sealed),
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
  std::vector<SegmentId> segments(facts_.size());
  std::ranges::transform(facts_, segments.begin(), &SegmentFacts::id);
  return segments;
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

State::Places State::Locate(StreamId stream, Position from, Position through,
                            std::size_t limit) const {
  MutexLock lock(mutex_);
  const Index::Range range = index_.Find(stream, from, through, limit);
  Places places{.rows = {}, .unread = range.unread};
  places.rows.reserve(range.rows.size());
  for (const LocatedRow& row : range.rows) {
    places.rows.push_back({row.position, facts_[row.where.segment].id, row.where.offset});
  }
  return places;
}

std::optional<Tx> State::SegmentOf(StreamId stream, Position from) const {
  MutexLock lock(mutex_);
  const std::optional<std::uint32_t> segment = index_.SegmentOf(stream, from);
  return segment.has_value() ? std::optional(facts_[*segment].id.first) : std::nullopt;
}

std::optional<UnreadSegment> State::Unread(std::uint32_t segment) const {
  MutexLock lock(mutex_);
  if (index_.IsRead(segment)) {
    return std::nullopt;
  }
  UnreadSegment unread{.facts = facts_[segment],
                       .tails = EmptyTails(catalogue_),
                       .last_tx = {},
                       .digest = {},
                       .floors = floors_};
  for (const SegmentFacts& before : std::span(facts_).first(segment)) {
    GoBehind(before, unread.tails);
    unread.last_tx = before.last_tx;
    unread.digest = before.digest;
  }
  return unread;
}

void State::ShowRead(const UnreadSegment& segment, Index rows) {
  MutexLock lock(mutex_);
  const auto place = std::ranges::find(facts_, segment.facts.id, &SegmentFacts::id);
  if (place != facts_.end() && floors_ == segment.floors) {
    index_.Replace(static_cast<std::uint32_t>(place - facts_.begin()), std::move(rows));
  }
}

std::optional<std::vector<SegmentFacts>> State::TakeUnsealed() {
  MutexLock lock(mutex_);
  if (std::exchange(is_sealed_, true)) {
    return std::nullopt;
  }
  return std::vector<SegmentFacts>(facts_.begin(),
                                   facts_.empty() ? facts_.end() : facts_.end() - 1);
}

bool State::IsSealed() const {
  MutexLock lock(mutex_);
  return is_sealed_;
}

void State::SealFailed() {
  MutexLock lock(mutex_);
  is_sealed_ = false;
}

void State::Publish(const SegmentLog::Appended& appended, const Appending& appending) {
  const std::span<const Record> rows = appending.rows;
  MutexLock lock(mutex_);
  if (facts_.back().id.first != appended.end.segment) {
    facts_.push_back({.id = {.first = appended.end.segment}, .marker = appended.marker});
    dead_.push_back(0);
    is_sealed_ = false;
  }
  SegmentFacts& facts = facts_.back();
  const auto segment = static_cast<std::uint32_t>(facts_.size() - 1);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Record& row = rows[i];
    index_.Add(row.stream, row.position, {segment, appended.offsets[i]});
    facts.Note(row.stream, row.position, row.tx, row.at, row.digest);
    recent_.Add(row);
  }
  facts.bytes = appended.end.offset;
  facts.last_tx = appended.end.tx;
  facts.digest = appended.end.digest;
  facts.has_answers = facts.has_answers || !appending.answers.empty();
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
  for (const auto& [segment, rows] : index_.Remove(stream, removed)) {
    dead_[segment] += rows;
  }
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
    return static_cast<double>(dead_[i]) / static_cast<double>(facts_[i].rows());
  };
  for (std::size_t i = 0; i + 1 < facts_.size(); ++i) {
    const bool worth = dead_[i] > 0 && dead_[i] * kDeadPart >= facts_[i].rows();
    if (worth && (!sparsest.has_value() || part(i) > part(*sparsest))) {
      sparsest = i;
    }
  }
  return sparsest.has_value() ? std::optional(facts_[*sparsest].id) : std::nullopt;
}

bool State::Replace(const RewrittenSegment& segment, Floors floors) {
  auto shared = std::make_shared<const Floors>(std::move(floors));
  Index rows(catalogue_);
  for (const MovedRow& row : segment.rows) {
    rows.Add(row.stream, row.position, {0, row.offset});
  }
  MutexLock lock(mutex_);
  if (IsPinned()) {
    return false;
  }
  const auto place = std::ranges::find_if(facts_, [&segment](const SegmentFacts& facts) {
    return facts.id.first == segment.facts.id.first;
  });
  const auto number = static_cast<std::uint32_t>(place - facts_.begin());
  *place = segment.facts;
  dead_[number] = 0;
  is_sealed_ = false;
  index_.Replace(number, std::move(rows));
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
