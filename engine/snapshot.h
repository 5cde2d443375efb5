// Snapshots: local files of a replica, so that its start costs what the live state and the
// journal's tail cost, not what the history costs.
//
// A snapshot is a shortcut and never an authority. It is used only when every byte of it is
// intact, it is of this program's fold versions, the store's journal has the same digest at each
// of its positions, and what was loaded has the state digest that was saved; in every other case
// the next older one is tried, and then the rows are read. Format: docs/formats/snapshot.md.
//
// Files are called `snapshot-<lane>-<tx, 16 hex digits>`; a lane is one follower (`main`,
// `audit`). They are written under a name that ends in `.tmp`, synced and renamed. One replica has
// a directory to itself; a file that another one writes there is refused by its digests.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/base/disk.h"
#include "engine/follower.h"
#include "engine/journal.h"
#include "engine/snapshot_format.h"
#include "engine/view.h"

namespace engine {

// Thread-compatible. Calls block on the disk.
class SnapshotDirectory {
 public:
  // How many snapshots of a lane are kept.
  static constexpr std::size_t kKept = 2;

  // Makes `path`, of mode 0700, when it is missing; the directory above must exist. `disk` must
  // outlive the object. Fails with kUnavailable.
  static absl::StatusOr<SnapshotDirectory> Open(const std::string& path, Disk& disk = SystemDisk());

  // Saves `view` and removes all of the lane's snapshots but this one and the newest older one.
  // Reads the view alone: nothing waits for it.
  //
  // Fails with kFailedPrecondition when a stream of the view is stopped, with kUnavailable or
  // kInternal when the disk refused: the older snapshots are as they were then.
  absl::Status Save(const std::string& lane, const View& view) const;

  // The lane's snapshots, oldest first. Fails with kUnavailable.
  absl::StatusOr<std::vector<Tx>> List(const std::string& lane) const;

  // Puts the newest snapshot that holds into `follower`, which has folded nothing yet, and returns
  // its header; empty when there is none, and the reason of each refusal is logged. Asks the store
  // for one row a stream. Fails as Journal::Tails does.
  absl::StatusOr<std::optional<SnapshotHeader>> Restore(const std::string& lane, Follower& follower,
                                                        Journal& journal, Deadline deadline) const;

  const std::string& path() const { return path_; }

 private:
  SnapshotDirectory(std::string path, Disk& disk, Fd fd)
      : path_(std::move(path)), disk_(&disk), fd_(std::move(fd)) {}

  absl::Status Write(const std::string& name, const View& view) const;
  absl::StatusOr<SnapshotHeader> RestoreFrom(const std::string& name, Follower& follower,
                                             Journal& journal, Deadline deadline) const;
  void Prune(const std::string& lane, Tx newest) const;

  std::string path_;
  Disk* disk_;
  Fd fd_;
};

// Whether the journal has, at the position of every stream, the row with the saved digest.
//
// Fails with kFailedPrecondition, naming stream and position, when it has another one, ends before
// it or was compacted past it; as Journal::Tails does when it cannot be asked.
absl::Status CheckAgrees(Journal& journal, const SnapshotHeader& header, Deadline deadline);

// Loads the snapshot in the file `fd` into `follower`, which has folded nothing yet, without
// asking any store. All or nothing: after a failure the follower is as it was.
//
// Fails as SnapshotReader does, with kFailedPrecondition when it is of other streams or fold
// versions, and with kDataLoss when it loads to another state digest than was saved.
absl::StatusOr<SnapshotHeader> LoadSnapshot(int fd, Follower& follower);

// Opens a snapshot by its path, for tools; nullopt when `path` is a file of another kind.
// Fails with kUnavailable.
absl::StatusOr<std::optional<Fd>> OpenIfSnapshot(const std::string& path);

}  // namespace engine
