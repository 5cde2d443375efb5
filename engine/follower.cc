#include "engine/follower.h"

#include <algorithm>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/logging.h"
#include "engine/base/reason.h"
#include "engine/base/status_macros.h"

namespace engine {
namespace {

absl::Status Damage(const Record& record, std::string_view what) {
  return absl::DataLossError(
      absl::StrFormat("stream %d position %d: %s", Raw(record.stream), Raw(record.position), what));
}

}  // namespace

Follower::Follower(std::vector<std::unique_ptr<Projection>> projections) {
  MutexLock lock(door_);
  for (std::unique_ptr<Projection>& projection : projections) {
    Followed followed;
    followed.cursor.stream = projection->stream();
    followed.fold_version = projection->fold_version();
    followed.projection = std::move(projection);
    streams_.push_back(std::move(followed));
  }
  std::ranges::sort(streams_, {}, [](const Followed& followed) { return followed.cursor.stream; });
  Publish();
}

ViewPtr Follower::view() const {
  MutexLock lock(published_mutex_);
  return published_;
}

void Follower::SetObserver(Observer observer, ViewObserver view_observer) {
  MutexLock lock(door_);
  observer_ = std::move(observer);
  view_observer_ = std::move(view_observer);
}

bool Follower::Deliver(const News& news) {
  std::function<void()> on_rebuild;
  bool believed = false;
  {
    MutexLock lock(door_);
    const std::uint64_t rebuilds = rebuilds_;
    believed = Take(news);
    on_rebuild = rebuilds == rebuilds_ ? std::function<void()>() : on_rebuild_;
  }
  if (on_rebuild) {
    on_rebuild();
  }
  return believed;
}

bool Follower::Confirm(const News& news) {
  if (!GUARD("follower.confirm-nothing-new",
             news.rows.empty() && news.complete && news.compacted.empty()) ||
      !door_.TryLock()) {
    return false;
  }
  const bool believed = Take(news);
  door_.Unlock();
  return believed;
}

// Streams that stand below their floor: what would bring them on is gone.
std::vector<StreamId> Follower::BelowFloor(const News& news) {
  std::vector<StreamId> below;
  for (const StreamId stream : news.compacted) {
    const auto after = std::ranges::find(news.after, stream, &StreamCursor::stream);
    const Followed* const followed = Find(stream);
    if (followed != nullptr && followed->IsRead() && after != news.after.end() &&
        followed->cursor.position <= after->position) {
      below.push_back(stream);
    }
  }
  return below;
}

bool Follower::Take(const News& news) {
  // Every history begins with nothing.
  const bool is_empty = std::ranges::none_of(streams_, [](const Followed& followed) {
    return followed.cursor.position != Position::kBeforeFirst;
  });
  if (is_empty) {
    origin_ = news.origin;
  }
  // An answer of a life that is over, or of one whose history was not compared yet.
  if (!GUARD("follower.origin", !judges_origin_ || origin_ == news.origin)) {
    return false;
  }
  if (const std::vector<StreamId> below = BelowFloor(news);
      !GUARD("follower.below-floor", below.empty())) {
    Forget(below, absl::UnavailableError("it was compacted past what is known"));
  }
  bool changed = false;
  auto row = news.rows.begin();
  for (const StreamCursor& after : news.after) {
    const auto end = std::find_if(
        row, news.rows.end(), [&](const Record& record) { return record.stream != after.stream; });
    Followed* followed = Find(after.stream);
    if (followed == nullptr || after.position > followed->cursor.position) {
      row = end;  // Not ours, or a hole that the next catch-up fills.
      continue;
    }
    for (; row != end; ++row) {
      Fold(*row, *followed);
    }
    changed = changed || followed->changed;
  }
  changed = ShowRefolded(news) || changed;
  if (changed) {
    Publish();
  }
  return true;
}

// Refolded streams are shown again with the first news after which every stream is where that news
// ends: then all of them are at one cut.
bool Follower::ShowRefolded(const News& news) {
  const auto is_refolded = [](const Followed& followed) {
    return followed.rebuilding == Rebuilding::kRefolded;
  };
  if (!news.complete || std::ranges::none_of(streams_, is_refolded)) {
    return false;
  }
  for (const Followed& followed : streams_) {
    if (!followed.IsRead()) {
      continue;
    }
    const StreamId stream = followed.cursor.stream;
    const auto after = std::ranges::find(news.after, stream, &StreamCursor::stream);
    if (after == news.after.end()) {
      return false;
    }
    const auto newest = std::find_if(news.rows.rbegin(), news.rows.rend(),
                                     [&](const Record& row) { return row.stream == stream; });
    const Position end = newest == news.rows.rend() ? after->position : newest->position;
    if (!GUARD("follower.one-cut", end == followed.cursor.position)) {
      return false;
    }
  }
  for (Followed& followed : streams_) {
    if (is_refolded(followed)) {
      followed.rebuilding = Rebuilding::kNo;
      followed.health = absl::OkStatus();
      Log(Severity::kInfo, "stream rebuilt",
          {{"stream", Raw(followed.cursor.stream)}, {"position", Raw(followed.cursor.position)}});
    }
  }
  return true;
}

bool Follower::Adopt(const Origin& origin, const Cursors& compared,
                     std::span<const StreamId> differing) {
  std::function<void()> on_rebuild;
  {
    MutexLock lock(door_);
    Cursors now;
    for (const Followed& followed : streams_) {
      if (followed.IsRead()) {
        now.push_back(followed.cursor);
      }
    }
    if (!GUARD("follower.adopt-what-was-compared", now == compared)) {
      return false;
    }
    judges_origin_ = true;
    origin_ = origin;
    if (differing.empty()) {
      return true;
    }
    Forget(differing, absl::UnavailableError("the history in the store is another one"));
    on_rebuild = on_rebuild_;
  }
  if (on_rebuild) {
    on_rebuild();
  }
  return true;
}

void Follower::Doubt() {
  MutexLock lock(door_);
  judges_origin_ = true;
  origin_.reset();
}

void Follower::Rebuild(std::span<const StreamId> streams, const absl::Status& why) {
  std::function<void()> on_rebuild;
  {
    MutexLock lock(door_);
    Forget(streams, why);
    on_rebuild = on_rebuild_;
  }
  if (on_rebuild) {
    on_rebuild();
  }
}

void Follower::SetOnRebuild(std::function<void()> on_rebuild) {
  MutexLock lock(door_);
  on_rebuild_ = std::move(on_rebuild);
}

void Follower::Forget(std::span<const StreamId> streams, const absl::Status& why) {
  for (const StreamId stream : streams) {
    Followed* const followed = Find(stream);
    if (followed == nullptr) {
      continue;
    }
    Followed empty;
    empty.projection = std::move(followed->projection);
    empty.fold_version = followed->fold_version;
    empty.image = std::move(followed->image);
    empty.changed = empty.projection != nullptr;
    if (empty.changed) {
      empty.projection->Reset();
    }
    empty.cursor.stream = stream;
    empty.rebuilding = Rebuilding::kForgotten;
    empty.health = WithReason(Reason::kRebuilding,
                              absl::UnavailableError(absl::StrFormat(
                                  "stream %d is being rebuilt: %s", Raw(stream),
                                  std::string(why.message().data(), why.message().size()))));
    *followed = std::move(empty);
  }
  ++rebuilds_;
  Publish();
}

absl::Status Follower::Refold(Journal& journal, Deadline deadline,
                              const std::atomic<bool>* cancelled) {
  std::vector<std::unique_ptr<Projection>> forgotten;
  std::uint64_t rebuilds = 0;
  {
    MutexLock lock(door_);
    forgotten = TakeForgotten();
    rebuilds = rebuilds_;
  }
  if (forgotten.empty()) {
    return absl::OkStatus();
  }
  Follower aside(std::move(forgotten));
  aside.cancelled_ = cancelled;
  absl::Status status = aside.Replay(journal, std::nullopt, deadline);
  MutexLock lock(door_);
  MutexLock aside_lock(aside.door_);
  if (status.ok() && !GUARD("follower.refold-whole", rebuilds == rebuilds_)) {
    status = absl::AbortedError("another stream has to be rebuilt too");
  }
  GiveBack(aside, status.ok());
  return status;
}

std::vector<std::unique_ptr<Projection>> Follower::TakeForgotten() {
  std::vector<std::unique_ptr<Projection>> forgotten;
  for (Followed& followed : streams_) {
    if (followed.rebuilding == Rebuilding::kForgotten) {
      forgotten.push_back(std::move(followed.projection));
    }
  }
  return forgotten;
}

void Follower::GiveBack(Follower& aside, bool refolded) {
  for (Followed& theirs : aside.streams_) {
    Followed& ours = *Find(theirs.cursor.stream);
    if (!refolded) {
      theirs.projection->Reset();
      ours.projection = std::move(theirs.projection);
      continue;
    }
    if (theirs.health.ok()) {
      theirs.health = ours.health;
      theirs.rebuilding = Rebuilding::kRefolded;
    }
    theirs.changed = true;
    ours = std::move(theirs);
  }
  if (refolded) {
    judges_origin_ = true;
    origin_.reset();
    Publish();
  }
}

Follower::Followed* Follower::Find(StreamId stream) {
  const auto found = std::ranges::find(
      streams_, stream, [](const Followed& followed) { return followed.cursor.stream; });
  return found == streams_.end() ? nullptr : &*found;
}

void Follower::Fold(const Record& record, Followed& followed) {
  const StreamCursor& cursor = followed.cursor;
  if (!followed.IsRead()) {
    return;
  }
  // A late answer: the rows came another way meanwhile. The newest of them can be compared.
  const bool known = !GUARD("follower.each-once", record.position > cursor.position);
  if (known && (record.position != cursor.position || record.digest == cursor.digest)) {
    return;
  }
  absl::Status verdict =
      known ? Damage(record, "another row is known at this position") : Check(record, followed);
  if (verdict.ok()) {
    verdict = followed.projection->Apply(record);
  }
  followed.changed = true;
  if (!verdict.ok()) {
    StopFollowed(followed, verdict);
    return;
  }
  followed.cursor.position = record.position;
  followed.cursor.digest = record.digest;
  followed.tx = record.tx;
  followed.at = record.at;
  if (observer_) {
    observer_(record);
  }
}

void Follower::StopFollowed(Followed& followed, const absl::Status& why) {
  const StreamCursor& cursor = followed.cursor;
  followed.changed = true;
  followed.rebuilding = Rebuilding::kNo;
  followed.health = absl::DataLossError(absl::StrFormat(
      "stream %d is stopped after position %d: %s", Raw(cursor.stream), Raw(cursor.position),
      std::string(why.message().data(), why.message().size())));
  Log(Severity::kError, "stream stopped",
      {{"stream", Raw(cursor.stream)},
       {"position", Raw(cursor.position)},
       {"reason", why.ToString()}});
}

absl::Status Follower::Check(const Record& record, Followed& followed) const {
  const bool sparse = followed.floor.has_value() && followed.floor->Covers(record.position);
  if (followed.floor.has_value() && !sparse && !followed.floor->complete()) {
    return Damage(record, "the row at the floor is missing");
  }
  if (!sparse && !GUARD("follower.dense", record.position == Next(followed.cursor.position))) {
    return Damage(record,
                  absl::StrFormat("position %d was expected", Raw(Next(followed.cursor.position))));
  }
  if (!GUARD("follower.checksum", record.checksum == RowChecksum(record))) {
    return Damage(record, "the checksum does not fit the row");
  }
  if (sparse) {
    RETURN_IF_ERROR(followed.floor->Take(record, followed.cursor));
  } else if (!GUARD("follower.digest",
                    record.digest == ChainDigest(followed.cursor.digest, record.checksum))) {
    return Damage(record, "the digest does not continue the known history");
  }
  if (record.tx < followed.tx || record.at < followed.at) {
    return Damage(record, "transaction or time goes back");
  }
  if (record.previous >= record.position) {
    return Damage(record, "previous is not before it");
  }
  return absl::OkStatus();
}

void Follower::Publish() {
  auto view = std::make_shared<View>();
  for (Followed& followed : streams_) {
    if (followed.changed) {
      // A stopped stream keeps its last good image: Apply left the state as it was.
      followed.image = followed.projection->Publish();
      followed.changed = false;
    }
    view->streams.push_back(
        {followed.cursor.stream, followed.cursor.position, followed.cursor.digest, followed.tx,
         followed.at, followed.fold_version, followed.health, followed.rebuilding, followed.image});
    if (followed.tx >= view->tx) {
      view->tx = followed.tx;
      view->at = followed.at;
    }
  }
  {
    MutexLock lock(published_mutex_);
    published_ = view;
  }
  if (view_observer_) {
    view_observer_(view);
  }
}

}  // namespace engine
