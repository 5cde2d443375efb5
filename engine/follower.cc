#include "engine/follower.h"

#include <algorithm>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/logging.h"
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

void Follower::SetObserver(Observer observer) {
  MutexLock lock(door_);
  observer_ = std::move(observer);
}

absl::Status Follower::Replay(Journal& journal, std::optional<Tx> through, Deadline deadline,
                              const std::function<void(std::uint64_t rows)>& progress) {
  std::uint64_t rows = 0;
  const auto take = [&](std::span<const Record> batch) {
    MutexLock lock(door_);
    for (const Record& record : batch) {
      if (Followed* followed = Find(record.stream); followed != nullptr) {
        Fold(record, *followed);
      }
    }
    rows += batch.size();
    if (progress) {
      progress(rows);
    }
    return absl::OkStatus();
  };
  const ScanOptions options{.after = cursors(), .through = through};
  const absl::Status scanned = journal.Scan(options, take, deadline);
  // A scan that broke off may have folded part of a transaction: such a state is never published.
  RETURN_IF_ERROR(scanned);
  MutexLock lock(door_);
  Publish();
  return absl::OkStatus();
}

void Follower::Deliver(const News& news) {
  MutexLock lock(door_);
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
  if (changed) {
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
  if (!followed.health.ok()) {
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
  followed.health = absl::DataLossError(absl::StrFormat(
      "stream %d is stopped after position %d: %s", Raw(cursor.stream), Raw(cursor.position),
      std::string(why.message().data(), why.message().size())));
  Log(Severity::kError, "stream stopped",
      {{"stream", Raw(cursor.stream)},
       {"position", Raw(cursor.position)},
       {"reason", why.ToString()}});
}

void Follower::Stop(StreamId stream, absl::Status why) {
  MutexLock lock(door_);
  Followed* const followed = Find(stream);
  if (followed != nullptr && followed->health.ok()) {
    StopFollowed(*followed, why);
    Publish();
  }
}

absl::Status Follower::Check(const Record& record, const Followed& followed) const {
  if (!GUARD("follower.dense", record.position == Next(followed.cursor.position))) {
    return Damage(record,
                  absl::StrFormat("position %d was expected", Raw(Next(followed.cursor.position))));
  }
  if (!GUARD("follower.checksum", record.checksum == RowChecksum(record))) {
    return Damage(record, "the checksum does not fit the row");
  }
  if (!GUARD("follower.digest",
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
    view->streams.push_back({followed.cursor.stream, followed.cursor.position,
                             followed.cursor.digest, followed.projection->fold_version(),
                             followed.health, followed.image});
    if (followed.tx >= view->tx) {
      view->tx = followed.tx;
      view->at = followed.at;
    }
  }
  MutexLock lock(published_mutex_);
  published_ = std::move(view);
}

}  // namespace engine
