// Heartbeat says twice a second that this replica is alive, and draws three conclusions.
//
//   - The life of the store that acknowledged it may decide: engine/proof.h is told, with the
//     moment from before it was sent.
//   - What the other replicas folded is compared with what was folded here, wherever position and
//     fold version are equal. A difference that is there twice in a row is an alarm: one of the two
//     is wrong and nobody knows which, so nothing is proven here until it is gone.
//   - New record types may be written from the feature level that every replica has.

#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <absl/status/status.h>

#include "engine/base/mutex.h"
#include "engine/base/thread.h"
#include "engine/follower.h"
#include "engine/presence.h"
#include "engine/proof.h"

namespace engine {

struct HeartbeatOptions {
  Duration interval = std::chrono::milliseconds(500);
  // A beat that is not acknowledged by then has failed.
  Duration timeout = std::chrono::seconds(2);
  // See Replica.
  std::string replica = {};
  std::uint32_t feature_level = 1;
};

// Has a thread of its own, which blocks on the store. Thread-safe; no call blocks, except for
// WaitForFirst.
class Heartbeat {
 public:
  // All arguments must outlive it.
  Heartbeat(Presence& presence, Proof& proof, std::vector<const Follower*> followers,
            HeartbeatOptions options);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  // Returns once a beat was acknowledged or has failed, or at `deadline`.
  void WaitForFirst(Deadline deadline);

  // Whether the store takes our writes: ok when it acknowledged a beat that was sent within
  // `max_age`, else kUnavailable, with the reason why the last one was not acknowledged.
  absl::Status CanWrite(Duration max_age) const;

  // What every replica that was alive at the last beat can read; 1, the least there is, before.
  std::uint32_t feature_level() const;

  struct Counters {
    std::uint64_t beats = 0;  // Acknowledged.
    std::uint64_t failed = 0;
    std::uint64_t replicas = 0;    // Alive at the last beat, this one included.
    std::uint64_t differing = 0;   // Streams of other replicas that are another state now.
    std::uint64_t mismatches = 0;  // How often one became so.
    std::uint64_t epoch = 0;       // Of the life that acknowledged last; 0 before.
  };
  Counters counters() const;

 private:
  using Key = std::pair<std::string, StreamId>;  // Replica and stream.
  struct Suspicion {
    Timestamp since;  // `at` of the row that differed first.
    bool confirmed = false;
  };

  void BeatUntilStopped();
  void BeatOnce();
  std::vector<FoldedStream> Folded() const;
  void Remember(const std::vector<FoldedStream>& folded, const Life& life);
  void Compare(const Pulse& pulse);
  void CompareWith(const Replica& replica);
  void Object();
  // What was folded here when `theirs` was at its position; empty when that is not remembered.
  std::optional<std::uint64_t> OursAt(const FoldedStream& theirs) const;

  Presence& presence_;
  Proof& proof_;
  const std::vector<const Follower*> followers_;
  const HeartbeatOptions options_;

  // Of the thread.
  std::map<StreamId, std::deque<FoldedStream>> remembered_;  // Oldest first.
  Origin remembered_of_;
  std::map<Key, Suspicion> suspicions_;
  bool last_failed_ = false;

  mutable Mutex mutex_;
  CondVar changed_;
  bool wanted_ ABSL_GUARDED_BY(mutex_) = false;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::optional<Duration> acknowledged_ ABSL_GUARDED_BY(mutex_);  // When that beat was sent.
  absl::Status failure_ ABSL_GUARDED_BY(mutex_);                  // Of the last beat.
  std::uint32_t feature_level_ ABSL_GUARDED_BY(mutex_) = 1;
  Counters counters_ ABSL_GUARDED_BY(mutex_);
  Thread thread_;
};

}  // namespace engine
