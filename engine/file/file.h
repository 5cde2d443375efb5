// The file backend: one process, one directory, a durable log of transactions. The embedded
// default of `halo-server serve`.
//
// A transaction is one frame in a segment file, synced before `Commit` answers. Payloads stay on
// disk: memory holds the tails, the newest few rows and the place of every row (8 bytes each) of
// the segments that somebody has asked for. Every byte is verified when it is first read, before it
// is believed, and again whenever it is read.
//
// Leases and key-value rows are kept in memory and in a log of their own; they survive a restart.
//
// Formats: docs/formats/segment.md, docs/formats/row.md, docs/formats/state.md.

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/base/clock.h"
#include "engine/base/random.h"
#include "engine/engine.h"

namespace engine {
class Disk;
}  // namespace engine

namespace engine::file {

struct Options {
  // The data directory. Made when missing, parents included; its mode is kept at 0700 and that of
  // its files at 0600. May itself be a symbolic link; nothing inside it may.
  std::string dir;

  // The store's clock. Must outlive the engine.
  const Clock* clock = &SystemClock();

  // Marks segments, so that bytes of a payload can never pass for a frame. Must outlive the
  // engine.
  Random* random = &SystemRandom();

  // A segment that has reached this size is followed by a new one. 4 KiB to 1 GiB.
  std::uint64_t segment_bytes = std::uint64_t{64} << 20;

  // The state file (leases and key-value rows) is written anew when it has more bytes and most of
  // them are of no use any more.
  std::uint64_t state_bytes = std::uint64_t{4} << 20;

  // How long after a commit the head mark is written at the latest.
  Duration mark_interval = std::chrono::milliseconds(500);

  // Called once, from the thread that met it, when a sync failed: what is on disk is unknown
  // from now on, and only a restart (which writes the tail again and syncs it) can tell. The
  // default ends the process with exit code 1. If the function returns, the engine refuses every
  // later transaction with kUnavailable; reads go on.
  std::function<void(const absl::Status& why)> on_fatal = {};

  // The system calls that change files. Null: the real ones. Must outlive the engine.
  Disk* disk = nullptr;
};

// Opens the directory for reading and writing and holds its lock until the engine is destroyed.
// Blocks while what was written last is read, about a segment: of closed segments only headers
// and sizes are looked at, and all of those once that no earlier process told of. Damage in a
// closed segment is found when its rows are first asked for: reads of them fail with kDataLoss.
// A torn last frame (a write that never was acknowledged) is cut off and logged with its size.
//
// Fails with
//   kDataLoss            damage; the message names file and byte offset; nothing was changed
//   kFailedPrecondition  another process holds the directory; its format is of another version;
//                        a stream has another name than in the catalogue; a network filesystem
//   kInvalidArgument     options out of range
//   kUnavailable         the disk refused an operation
//   kInternal            a sync failed
absl::StatusOr<std::unique_ptr<Engine>> Open(const Catalogue& catalogue, Options options);

// Opens a directory for reading, whether or not a process is writing to it: takes no lock and
// changes nothing. Reads and judges every segment. The engine shows the transactions that were
// whole when it was opened, for ever; Begin and CheckReady fail with kUnavailable. The catalogue is
// the stored one.
//
// Fails as Open does, and with kNotFound when there is no journal.
absl::StatusOr<std::unique_ptr<Engine>> OpenReadOnly(const std::string& dir);

}  // namespace engine::file
