// How a follower comes up to date: from the rows of the journal, or from a snapshot.

#include <algorithm>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/logging.h"
#include "engine/base/status_macros.h"
#include "engine/follower.h"

namespace engine {

absl::Status Follower::Replay(Journal& journal, std::optional<Tx> through, Deadline deadline,
                              const std::function<void(std::uint64_t rows)>& progress) {
  absl::Status scanned = ScanInto(journal, through, deadline, progress);
  while (absl::IsAborted(scanned)) {
    scanned = ScanInto(journal, through, deadline, progress);
  }
  // A scan that broke off may have folded part of a transaction: such a state is never published.
  RETURN_IF_ERROR(scanned);
  MutexLock lock(door_);
  RETURN_IF_ERROR(LeaveFloors(!through.has_value()));
  Publish();
  return absl::OkStatus();
}

// kAborted: a stream was below its floor; it was forgotten, and the scan has to begin anew.
absl::Status Follower::ScanInto(Journal& journal, std::optional<Tx> through, Deadline deadline,
                                const std::function<void(std::uint64_t rows)>& progress) {
  std::uint64_t rows = 0;
  const auto take = [&](std::span<const Record> batch) {
    if (cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed)) {
      return absl::CancelledError("the replay is not wanted any more");
    }
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
  ScanOptions options{.after = {}, .through = through};
  {
    MutexLock lock(door_);
    for (const Followed& followed : streams_) {
      if (followed.IsRead()) {
        options.after.push_back(followed.cursor);
      }
    }
  }
  options.on_tails = [this](std::span<const StreamTail> tails) {
    MutexLock lock(door_);
    return MeetFloors(tails);
  };
  return journal.Scan(options, take, deadline);
}

absl::Status Follower::MeetFloors(std::span<const StreamTail> tails) {
  bool forgotten = false;
  for (Followed& followed : streams_) {
    const auto tail = std::ranges::find(tails, followed.cursor.stream, &StreamTail::stream);
    followed.floor.reset();
    if (tail == tails.end() || Next(followed.cursor.position) >= tail->floor.position) {
      continue;
    }
    if (followed.cursor.position == Position::kBeforeFirst) {
      followed.floor.emplace(tail->floor);
      continue;
    }
    Log(Severity::kWarning, "the store was compacted past what is known; reading it anew",
        {{"stream", Raw(followed.cursor.stream)},
         {"position", Raw(followed.cursor.position)},
         {"floor", Raw(tail->floor.position)}});
    Clear(followed);
    forgotten = true;
  }
  return forgotten ? absl::AbortedError("a stream is read anew") : absl::OkStatus();
}

absl::Status Follower::LeaveFloors(bool to_the_end) {
  for (Followed& followed : streams_) {
    const bool proved = !followed.floor.has_value() || followed.floor->complete();
    followed.floor.reset();
    if (proved || !followed.health.ok()) {
      continue;
    }
    if (!to_the_end) {
      Clear(followed);
      return absl::OutOfRangeError(
          absl::StrFormat("stream %d was compacted past that transaction: what was true then "
                          "cannot be told any more",
                          Raw(followed.cursor.stream)));
    }
    StopFollowed(followed, absl::DataLossError("the row at the floor is missing"));
  }
  return absl::OkStatus();
}

void Follower::Clear(Followed& followed) {
  followed.projection->Reset();
  followed.cursor = {.stream = followed.cursor.stream};
  followed.tx = Tx::kBeforeFirst;
  followed.at = {};
  followed.changed = true;
  followed.floor.reset();
}

absl::Status Follower::Restore(const SnapshotHeader& header, const ReadState& read,
                               const std::function<absl::Status()>& finish) {
  MutexLock lock(door_);
  absl::Status loaded = Load(header, read);
  if (loaded.ok()) {
    loaded = finish();
  }
  if (loaded.ok()) {
    Publish();
    return loaded;
  }
  for (Followed& followed : streams_) {
    Clear(followed);
  }
  return loaded;
}

absl::Status Follower::Load(const SnapshotHeader& header, const ReadState& read) {
  const auto same_stream = [](const SavedStream& saved, const Followed& followed) {
    return saved.cursor.stream == followed.cursor.stream;
  };
  if (!std::ranges::equal(header.streams, streams_, same_stream)) {
    return absl::FailedPreconditionError("the snapshot is of other streams");
  }
  for (std::size_t i = 0; i < streams_.size(); ++i) {
    const SavedStream& saved = header.streams[i];
    Followed& followed = streams_[i];
    if (!GUARD("snapshot.fold-version",
               saved.fold_version == followed.projection->fold_version())) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "stream %d was folded by version %d; this program's is %d", Raw(saved.cursor.stream),
          saved.fold_version, followed.projection->fold_version()));
    }
    RETURN_IF_ERROR(read(saved.cursor.stream, [&followed](std::string_view part) {
      return followed.projection->Load(part);
    }));
    const std::uint64_t digest = followed.projection->Publish()->StateDigest();
    if (!GUARD("snapshot.state-digest", saved.state_digest == digest)) {
      return absl::DataLossError(absl::StrFormat("stream %d was loaded to another state digest",
                                                 Raw(saved.cursor.stream)));
    }
    followed.cursor = saved.cursor;
    followed.tx = saved.tx;
    followed.at = saved.at;
    followed.changed = true;
  }
  return absl::OkStatus();
}

}  // namespace engine
