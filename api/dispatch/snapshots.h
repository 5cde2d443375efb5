// Snapshots of a server's lanes: used at its start, saved now and then in the background and when
// it stops. They only save time: whatever is wrong with them is logged, and the rows are read.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/dispatch/ticker.h"
#include "engine/follower.h"
#include "engine/history_verifier.h"
#include "engine/snapshot.h"

namespace api {

struct SnapshotOptions {
  // Where they are kept; empty: there are none.
  std::string dir;
  // A lane is saved when it has folded this many rows since it was saved last, looked at this
  // often.
  std::uint64_t rows = 20'000;
  engine::Duration interval = std::chrono::seconds(30);
  // Between two pages of the rows that a start left out, which are read and checked afterwards.
  engine::Duration verify_interval = std::chrono::milliseconds(50);
};

// One thread; its own threads read views and the journal only.
class Snapshots {
 public:
  // Null when there are to be none, or the directory cannot be used.
  static std::unique_ptr<Snapshots> Open(const SnapshotOptions& options);
  // Stops, and saves a last time what changed.
  ~Snapshots();

  // Puts the newest snapshot that holds into `follower`, which has folded nothing yet, if there is
  // one. The follower and the journal must outlive the object.
  //
  // Fails as engine::SnapshotDirectory::Restore does: the store cannot be asked.
  absl::Status Restore(std::string lane, engine::Follower& follower, engine::Journal& journal);

  // From now on lanes are saved, and the rows that Restore left out are verified: a stream with
  // damage among them is stopped.
  void Start(engine::Journal& journal);

 private:
  struct Lane {
    std::string name;
    engine::Follower* follower;
    std::uint64_t saved_rows = 0;  // Of the newest snapshot.
    engine::Cursors unverified;    // What the snapshot said; empty: nothing was left out.
    std::unique_ptr<engine::HistoryVerifier> verifier;
  };

  Snapshots(engine::SnapshotDirectory directory, const SnapshotOptions& options)
      : directory_(std::move(directory)), options_(options) {}

  void SaveIfGrown(Lane& lane, std::uint64_t rows);
  void Verify();

  const engine::SnapshotDirectory directory_;
  const SnapshotOptions options_;
  std::vector<Lane> lanes_;
  std::unique_ptr<Ticker> saver_;
  std::unique_ptr<Ticker> verifier_;
};

}  // namespace api
