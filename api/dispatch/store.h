// Store: everything that stands between the routes and one engine.
//
// Two lanes, each a follower with its coalescer: the main one over all streams but the audit,
// which requests wait for, and one over the audit alone, which nobody's request pays for. Plus
// the committer, the heartbeat, and a background look at the store every second, which verifies
// new audit entries and notices a changed history when nobody asks for anything.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "api/dispatch/cursor.h"
#include "api/dispatch/past.h"
#include "api/dispatch/recent.h"
#include "api/dispatch/snapshots.h"
#include "api/dispatch/ticker.h"
#include "engine/coalescer.h"
#include "engine/committer.h"
#include "engine/engine.h"
#include "engine/follower.h"
#include "engine/heartbeat.h"
#include "engine/proof.h"
#include "engine/rebuilder.h"
#include "schemas/feature_level.h"

namespace api {

using Projections = std::vector<std::unique_ptr<engine::Projection>>;

// Thread-safe; never blocks.
class Lane {
 public:
  Lane(engine::Journal& journal, std::unique_ptr<engine::Follower> follower,
       engine::CoalescerOptions options);

  // Calls `reader` once, after a flight that is sent after now; or with why there is none.
  void Latest(engine::Coalescer::Reader reader);
  // As Latest, from the server that just acknowledged a commit of ours: see Coalescer::JoinProven.
  void Proven(engine::Coalescer::Reader reader) { coalescer_.JoinProven(std::move(reader)); }

  // The last view; nobody is asked.
  engine::ViewPtr Last() const { return follower_->view(); }
  // How long ago a flight last landed well (or the replay ended).
  engine::Duration Age() const;

  engine::Follower& follower() { return *follower_; }
  engine::Coalescer::Counters counters() const { return coalescer_.counters(); }

 private:
  std::unique_ptr<engine::Follower> follower_;
  std::atomic<std::int64_t> fresh_at_;  // Nanoseconds since boot.
  engine::Coalescer coalescer_;
  engine::Rebuilder rebuilder_;  // Uses both.
};

struct StoreOptions {
  engine::FlightLoop loop = {};
  engine::Duration flight_timeout = std::chrono::seconds(5);
  // Between two looks at the store in the background.
  engine::Duration look_interval = std::chrono::seconds(1);
  // Answers that were kept for retries are forgotten this often, if they are old enough.
  engine::Duration prune_interval = std::chrono::minutes(1);
  std::size_t max_queue = 4096;  // Readers, and writers, that wait at once.
  // Its name is made up when it is empty.
  engine::HeartbeatOptions heartbeat = {.feature_level = schemas::kFeatureLevel};
  SnapshotOptions snapshots;
  // What is folded anew for a look back; empty: nobody can look back.
  Past::MakeProjections past = {};
  // Of the newest records and what is made of them, kept for those who watch.
  std::size_t recent_bytes = std::size_t{16} << 20;
};

class Store {
 public:
  // Brings both lanes up to date, from their snapshots if they have some, else from the first row
  // (progress goes to the log), and starts the threads. Blocks until then. A damaged stream is no
  // failure: it is stopped, see engine/follower.h.
  //
  // Fails as Journal::Scan and CursorSeal::Open do. `engine` must outlive the store.
  static absl::StatusOr<std::unique_ptr<Store>> Open(engine::Engine& engine, Projections main,
                                                     Projections audit,
                                                     const StoreOptions& options);

  engine::Engine& engine() { return engine_; }
  engine::Journal& journal() { return engine_.journal(); }
  Lane& main() { return main_; }
  Lane& audit() { return audit_; }
  engine::Committer& committer() { return committer_; }
  engine::Heartbeat& heartbeat() { return heartbeat_; }
  const engine::Heartbeat& heartbeat() const { return heartbeat_; }
  // Makes and reads the cursors that clients hold.
  CursorSeal& cursors() { return *cursors_; }

  // The newest records of the main lane.
  Recent& recent() { return recent_; }

  // States of the past; null where the options have no projections for it.
  Past* past() { return past_.get(); }

  // Runs `task` after the next look at the store in the background, on its thread: for what waits
  // for the store to come to know something. It must not block. Dropped when the store ends.
  void AfterNextLook(std::function<void()> task);

  // The newest record types that every replica which is alive can read; see
  // schemas/feature_level.h.
  std::uint32_t feature_level() const { return heartbeat_.feature_level(); }

  // The first stream that is stopped because its history is damaged: kDataLoss with its name and
  // the first position that is not believed; or that is being rebuilt: kUnavailable with its name.
  // Ok when there is none.
  absl::Status StreamHealth() const;

 private:
  Store(engine::Engine& engine, std::unique_ptr<engine::Follower> main,
        std::unique_ptr<engine::Follower> audit, std::unique_ptr<Snapshots> snapshots,
        std::unique_ptr<CursorSeal> cursors, const StoreOptions& options);

  void LookAtStore();

  engine::Engine& engine_;
  const std::unique_ptr<CursorSeal> cursors_;
  const std::unique_ptr<Past> past_;
  Recent recent_;  // The main lane's follower feeds it.
  const engine::Duration look_interval_;
  engine::Mutex later_mutex_;
  std::vector<std::function<void()>> later_ ABSL_GUARDED_BY(later_mutex_);
  engine::Proof proof_;
  Lane main_;
  Lane audit_;
  engine::Committer committer_;
  engine::Heartbeat heartbeat_;
  Ticker background_;
  Ticker prune_ticker_;
  std::unique_ptr<Snapshots> snapshots_;  // Null: none. Last: it reads from the lanes at its end.
};

}  // namespace api
