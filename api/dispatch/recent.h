// Recent: the newest records that the main lane has folded, kept in memory for those who watch.
//
// Fed by the follower, view by view, so what it holds is always a whole number of transactions and
// never ahead of the view. Bounded: the oldest records go first. Whoever is further behind than it
// reaches reads the journal, and comes back to it at the position where that ended.

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/base/mutex.h"
#include "engine/journal.h"
#include "engine/view.h"

namespace api {

// A record, and what else is made of it once for all who watch.
class RecentRecord {
 public:
  RecentRecord(engine::Record row, engine::Payload payload_before)
      : record(std::move(row)), before(std::move(payload_before)) {}

  const engine::Record record;
  // Of a tombstone: what the key's record before it held. Whose it was, only that tells.
  const engine::Payload before;

  // What `make` gave when it was first asked for. Thread-safe.
  const std::string& Text(const std::function<std::string(const engine::Record&)>& make) const;

 private:
  mutable engine::Mutex mutex_;
  mutable std::optional<std::string> text_ ABSL_GUARDED_BY(mutex_);
};
using RecentPtr = std::shared_ptr<const RecentRecord>;

// Thread-safe; never blocks. Fold and Publish are called by one follower, under its lock.
class Recent {
 public:
  // What the last view has under a tombstone's key; empty: nothing.
  using FindState = std::function<engine::Payload(const engine::Record& tombstone)>;

  explicit Recent(std::size_t max_bytes) : max_bytes_(max_bytes) {}

  // Before anything is folded: where the follower stands.
  void Start(const engine::View& view, FindState find_state = {});
  void Fold(const engine::Record& record);
  void Publish(const engine::View& view);

  enum class Reach {
    kRecord,    // `record` comes next.
    kUpToDate,  // Nothing yet: the reader has all that the view has, or more.
    kRebuilt,   // Nothing can be told: a stream is being rebuilt.
    kBehind,    // What comes next is not here (any more): read the journal.
  };
  struct Step {
    Reach reach = Reach::kUpToDate;
    RecentPtr record = {};
  };
  // What follows after these cursors, over all of their streams: the lowest transaction first, in
  // it the lowest stream, in that the lowest position. REQUIRES: they are followed.
  Step Next(const engine::Cursors& after) const;

  // Whether the history that is held agrees with these cursors; empty where it does not reach back
  // to one of them.
  std::optional<bool> Agrees(const engine::Cursors& cursors) const;

  // Rises whenever a stream starts over or was found to have a hole: what a reader knows of the
  // store's history has to be compared anew.
  std::uint64_t generation() const;

  // Calls `wake` after every view that is published, under the follower's lock: it must not block.
  // It may still be called once after Unsubscribe.
  std::uint64_t Subscribe(std::function<void()> wake);
  void Unsubscribe(std::uint64_t subscription);

 private:
  struct Stream {
    std::deque<RecentPtr> rows;  // Dense; the last one is at `end`, if there are any.
    engine::StreamCursor end;    // Where the view is.
    bool is_rebuilding = false;
  };

  engine::Payload StateBefore(const engine::Record& record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Add(const RecentPtr& row) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Trim() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Clear(Stream& stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  static std::optional<engine::Digest> DigestAt(const Stream& stream, engine::Position position);

  const std::size_t max_bytes_;
  mutable engine::Mutex mutex_;
  std::map<engine::StreamId, Stream> streams_ ABSL_GUARDED_BY(mutex_);
  std::vector<RecentPtr> folded_ ABSL_GUARDED_BY(mutex_);  // Not published yet.
  // What these have under their keys.
  std::unordered_map<std::string, engine::Payload> folded_states_ ABSL_GUARDED_BY(mutex_);
  FindState find_state_ ABSL_GUARDED_BY(mutex_);
  std::size_t bytes_ ABSL_GUARDED_BY(mutex_) = 0;
  std::uint64_t generation_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::uint64_t, std::function<void()>> wakes_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t last_subscription_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace api
