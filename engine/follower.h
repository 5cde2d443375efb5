// Follower owns the cursors and is the only door through which records enter projections.
//
// Whoever has news (a flight, a writer that read under the lock, a writer whose rows just
// committed, the replay at start) delivers it here; the follower checks every row, folds what is
// new, and publishes one immutable view. Two ways can bring the same rows, in any order: rows at
// or below a cursor are dropped, after their digest was compared where it is known.
//
// A server runs two followers: one over all streams but the audit, which requests wait for, and
// one over the audit alone.
//
// When the history in the store turns out to be another one, streams start over:
//
//   live -- Rebuild --> forgotten -- Refold --> refolded -- Deliver of one whole cut --> live
//
// From Rebuild on the view marks them not healthy, so nothing of them is served; they are shown
// again all at once, at one cut with every other stream. No view ever mixes two histories.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <absl/status/status.h>

#include "engine/base/mutex.h"
#include "engine/floor_proof.h"
#include "engine/journal.h"
#include "engine/projection.h"
#include "engine/snapshot_format.h"
#include "engine/view.h"

namespace engine {

// Thread-safe. Deliver holds a lock while records are folded, never across a call of the store;
// view() and cursors() wait for no one. Replay and Refold block on the store.
class Follower {
 public:
  // Called with every row as it is folded, in the order of its stream, under the door's lock.
  using Observer = std::function<void(const Record&)>;
  // Called with every view that is published, after the rows that it is newer by, under the door's
  // lock; view() shows it already. Where a stream starts over, the view is all there is: its rows
  // are folded elsewhere.
  using ViewObserver = std::function<void(const ViewPtr&)>;

  // Follows the streams of `projections`, each of which is in the catalogue once.
  explicit Follower(std::vector<std::unique_ptr<Projection>> projections);

  // Reads everything from the journal, from the cursors on, and publishes once at the end.
  // `progress` is called now and then with the number of rows so far. Blocks until done.
  //
  // What compaction left is proved by the floor (engine/floor_proof.h). A stream that stands below
  // its floor is forgotten and read from its start.
  //
  // Fails as Journal::Scan does when the store cannot be read, and with kOutOfRange when `through`
  // lies below a floor: what was true then cannot be told any more. A damaged stream is no failure:
  // it is stopped (see Deliver) and the others go on.
  absl::Status Replay(Journal& journal, std::optional<Tx> through, Deadline deadline,
                      const std::function<void(std::uint64_t rows)>& progress = {});

  // Takes over what a snapshot says instead of folding the rows up to it, and publishes that.
  // `read` hands over the saved parts of one stream; `finish` says, after the last one, whether
  // the snapshot was whole. All or nothing. REQUIRES: nothing was folded yet.
  //
  // Fails with kFailedPrecondition when it is of other streams or fold versions, with kDataLoss
  // when what was loaded has another state digest, and as `read` and `finish` do.
  using ReadState = std::function<absl::Status(StreamId stream, const StatePartSink& sink)>;
  absl::Status Restore(const SnapshotHeader& header, const ReadState& read,
                       const std::function<absl::Status()>& finish);

  // The door. Checks each row that is new (dense position, checksum, digest over the one before,
  // `tx` and `at` never falling), folds it, and publishes a view if anything changed.
  //
  // A row that fails a check or cannot be folded stops its stream for good: the view keeps the
  // last good image, marked with kDataLoss and the position, and later news of that stream is
  // ignored. News that begins after a cursor (a hole) is ignored for that stream: the next
  // catch-up fills it. A stream that was compacted past its cursor is rebuilt.
  //
  // False, and nothing is done, when the news is of a life of the store that is not believed:
  // confirm the history (engine/history.h) and ask again.
  bool Deliver(const News& news);
  // The same for an event loop: never blocks and folds nothing. True: the news had nothing that the
  // view does not show, and is believed. False, and nothing is done: call Deliver.
  bool Confirm(const News& news);

  // Believes `origin` from now on: `compared` are cursors whose rows were found in its history
  // with their digests, `differing` the streams among them where it was another one; those are
  // rebuilt. False, and nothing is done, when the cursors have moved since: compare again.
  // Called by ConfirmHistory (engine/history.h).
  bool Adopt(const Origin& origin, const Cursors& compared, std::span<const StreamId> differing);
  // Believes no life until one is adopted. Before the first call every news is believed: tools
  // have but one life to read.
  void Doubt();

  // Forgets what these streams were folded to, at once, and marks them with kUnavailable and
  // `why`. Streams that are not followed are left out. Whoever runs the follower calls Refold
  // then (engine/rebuilder.h).
  void Rebuild(std::span<const StreamId> streams, const absl::Status& why);
  // Called after every Rebuild, and every Adopt that rebuilds, without a lock.
  void SetOnRebuild(std::function<void()> on_rebuild);

  // Reads the streams that were forgotten from their start, beside the door. Then no life of the
  // store is believed until one is adopted anew: it may have changed while they were read. Ok and
  // without effect when there is none.
  //
  // Fails as Journal::Scan does, with kAborted when more was forgotten meanwhile (call again), and
  // with kCancelled soon after `cancelled` became true. One call at a time.
  absl::Status Refold(Journal& journal, Deadline deadline,
                      const std::atomic<bool>* cancelled = nullptr);

  ViewPtr view() const;
  Cursors cursors() const { return view()->cursors(); }

  // Neither may block, nor call this object but for view() and cursors(). Empty by default.
  void SetObserver(Observer observer, ViewObserver view_observer = {});

 private:
  struct Followed {
    std::unique_ptr<Projection> projection;  // Null while it is refolded, beside the door.
    std::uint32_t fold_version = 0;
    StreamCursor cursor;
    Tx tx = Tx::kBeforeFirst;
    Timestamp at;
    absl::Status health;
    Rebuilding rebuilding = Rebuilding::kNo;
    std::shared_ptr<const ProjectionImage> image;
    bool changed = true;
    std::optional<FloorProof> floor = {};  // While rows at or below it are folded.
    // Whether its rows are folded.
    bool IsRead() const { return health.ok() || rebuilding == Rebuilding::kRefolded; }
  };

  absl::Status ScanInto(Journal& journal, std::optional<Tx> through, Deadline deadline,
                        const std::function<void(std::uint64_t rows)>& progress);
  absl::Status MeetFloors(std::span<const StreamTail> tails) ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_);
  absl::Status LeaveFloors(bool to_the_end) ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_);
  absl::Status Load(const SnapshotHeader& header, const ReadState& read)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_);
  Followed* Find(StreamId stream) ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_);
  void Fold(const Record& record, Followed& followed) ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_);
  absl::Status Check(const Record& record, Followed& followed) const;
  static void Clear(Followed& followed);
  void StopFollowed(Followed& followed, const absl::Status& why)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_);
  bool Take(const News& news) ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_);
  std::vector<StreamId> BelowFloor(const News& news) ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_);
  bool ShowRefolded(const News& news) ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_);
  void Forget(std::span<const StreamId> streams, const absl::Status& why)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_);
  // The projections of the forgotten streams, for a follower beside the door, and back again.
  std::vector<std::unique_ptr<Projection>> TakeForgotten() ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_);
  void GiveBack(Follower& aside, bool refolded) ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_, aside.door_);
  void Publish() ABSL_EXCLUSIVE_LOCKS_REQUIRED(door_);

  mutable Mutex door_;
  const std::atomic<bool>* cancelled_ = nullptr;  // Ends a replay; set before it.
  std::vector<Followed> streams_ ABSL_GUARDED_BY(door_);
  Observer observer_ ABSL_GUARDED_BY(door_);
  ViewObserver view_observer_ ABSL_GUARDED_BY(door_);
  bool judges_origin_ ABSL_GUARDED_BY(door_) = false;
  std::optional<Origin> origin_ ABSL_GUARDED_BY(door_);  // The life that is believed.
  std::uint64_t rebuilds_ ABSL_GUARDED_BY(door_) = 0;
  std::function<void()> on_rebuild_ ABSL_GUARDED_BY(door_);
  mutable Mutex published_mutex_;
  ViewPtr published_ ABSL_GUARDED_BY(published_mutex_);
};

}  // namespace engine
