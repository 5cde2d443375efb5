// HeadFile keeps the head mark: a place in the journal that is known to be durable, so that
// acknowledged transactions which are cut off at the boundary of a frame are missed.
//
// Two slots are written in turn, so that a torn write leaves the older mark.
//
// Thread-safe. Calls block on the disk; writers take turns.

#pragma once

#include <memory>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/file/directory.h"
#include "engine/file/format.h"
#include "engine/file/turn.h"

namespace engine::file {

// The newest mark of a directory. Fails with kNotFound, or kDataLoss when no slot is intact.
absl::StatusOr<HeadMark> ReadHeadMark(const Directory& directory);

class HeadFile {
 public:
  // Makes the file with `mark` in it. REQUIRES: there is none.
  static absl::StatusOr<std::unique_ptr<HeadFile>> Create(const Directory& directory,
                                                          const HeadMark& mark);
  // Opens the existing file. Fails as ReadHeadMark.
  static absl::StatusOr<std::unique_ptr<HeadFile>> Open(const Directory& directory);

  // Writes and syncs `mark`; does nothing when a newer one is there. Fails with kUnavailable (the
  // older mark stands) or kInternal (a sync failed).
  absl::Status Write(const HeadMark& mark);

  // Writes `mark`, or the newer one that is there, into both slots, so that no mark lies in an
  // older segment. Fails as Write.
  absl::Status Settle(const HeadMark& mark);

 private:
  HeadFile(Disk& disk, Fd file) : disk_(disk), file_(std::move(file)) {}

  absl::Status WriteInTurn(const HeadMark& mark);
  absl::Status WriteSlot(const HeadMark& mark);

  Disk& disk_;
  const Fd file_;
  Turn turn_;
  // Whoever has the turn.
  HeadMark newest_;
  int newest_slot_ = 0;
};

}  // namespace engine::file
