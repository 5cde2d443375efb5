// Follower owns the cursors and is the only door through which records enter projections.
//
// Whoever has news (a flight, a writer that read under the lock, a writer whose rows just
// committed, the replay at start) delivers it here; the follower checks every row, folds what is
// new, and publishes one immutable view. Two ways can bring the same rows, in any order: rows at
// or below a cursor are dropped, after their digest was compared where it is known.
//
// A server runs two followers: one over all streams but the audit, which requests wait for, and
// one over the audit alone.

#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <absl/status/status.h>

#include "engine/base/mutex.h"
#include "engine/journal.h"
#include "engine/projection.h"
#include "engine/view.h"

namespace engine {

// Thread-safe. Deliver holds a lock while records are folded, never across a call of the store;
// view() and cursors() wait for no one.
class Follower {
 public:
  // Called with every row as it is folded, in order, under the door's lock. For tests and
  // metrics; empty by default.
  using Observer = std::function<void(const Record&)>;

  // Follows the streams of `projections`, each of which is in the catalogue once.
  explicit Follower(std::vector<std::unique_ptr<Projection>> projections);

  // Reads everything from the journal, from the cursors on, and publishes once at the end.
  // `progress` is called now and then with the number of rows so far. Blocks until done.
  //
  // Fails as Journal::Scan does when the store cannot be read. A damaged stream is no failure: it
  // is stopped (see Deliver) and the others go on.
  absl::Status Replay(Journal& journal, std::optional<Tx> through, Deadline deadline,
                      const std::function<void(std::uint64_t rows)>& progress = {});

  // The door. Checks each row that is new (dense position, checksum, digest over the one before,
  // `tx` and `at` never falling), folds it, and publishes a view if anything changed.
  //
  // A row that fails a check or cannot be folded stops its stream for good: the view keeps the
  // last good image, marked with kDataLoss and the position, and later news of that stream is
  // ignored. News that begins after a cursor (a hole) is ignored for that stream: the next
  // catch-up fills it.
  void Deliver(const News& news);

  // Stops a stream for good: its history is not the one that was folded. Does nothing to a stream
  // that is stopped already or not followed.
  void Stop(StreamId stream, absl::Status why);

  ViewPtr view() const;
  Cursors cursors() const { return view()->cursors(); }

  void SetObserver(Observer observer);

 private:
  struct Followed {
    std::unique_ptr<Projection> projection;
    StreamCursor cursor;
    Tx tx = Tx::kBeforeFirst;
    Timestamp at;
    absl::Status health;
    std::shared_ptr<const ProjectionImage> image;
    bool changed = true;
  };

  Followed* Find(StreamId stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_);
  void Fold(const Record& record, Followed& followed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_);
  absl::Status Check(const Record& record, const Followed& followed) const;
  void StopFollowed(Followed& followed, const absl::Status& why)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_);
  void Publish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_);

  Mutex door_;
  std::vector<Followed> streams_ ABSL_GUARDED_BY(door_);
  Observer observer_ ABSL_GUARDED_BY(door_);
  mutable Mutex published_mutex_;
  ViewPtr published_ ABSL_GUARDED_BY(published_mutex_);
};

}  // namespace engine
