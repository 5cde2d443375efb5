// StateLog keeps leases and key-value rows on disk: a table in memory and a log of its changes,
// `state-<generation>`, written anew as a whole when most of it is of no use any more.
//
// Callers that come while a frame is being written share the next one: one frame in flight, one
// sync for all of them, and nobody sees a change that is not durable. Rows that have expired are
// left out when the log is rewritten, so the log stays in proportion to what is alive.
//
// Format: docs/formats/state.md.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "engine/base/random.h"
#include "engine/file/directory.h"
#include "engine/file/state_file.h"
#include "engine/memory/rows.h"

namespace engine::file {

// Thread-safe. Change and Sweep block on the disk.
class StateLog final : public memory::Rows {
 public:
  struct Options {
    const Clock* clock = nullptr;
    Random* random = nullptr;
    // A file that is smaller is not rewritten.
    std::uint64_t rewrite_bytes = std::uint64_t{4} << 20;
  };

  // Reads the newest generation or makes the first, cuts a torn last frame off, and makes what is
  // left durable. `directory` must outlive the log.
  //
  // Fails with kDataLoss (damage, with file and offset; nothing was changed), kFailedPrecondition
  // (another format version), kUnavailable, kInternal (a sync failed).
  static absl::StatusOr<std::unique_ptr<StateLog>> Open(const Directory& directory,
                                                        Options options);

  // Called once, when a sync failed or a part of a frame could not be removed, from the thread
  // that met it. REQUIRES: before the first change.
  void OnFatal(std::function<void(const absl::Status& why)> on_fatal) {
    on_fatal_ = std::move(on_fatal);
  }
  // Nothing is written any more: every later change fails with kUnavailable.
  void Stop(const absl::Status& why);

  absl::Status Change(const memory::RowKey& key, const Decide& decide, Deadline deadline) override;
  std::optional<memory::Row> Read(const memory::RowKey& key) const override;
  absl::StatusOr<int> Sweep(int limit, Deadline deadline) override;
  Timestamp Now() const override { return options_.clock->Now(); }

 private:
  // The table with the changes of the frame that is being put together.
  class Staged;
  using Step = std::function<void(Staged& staged)>;
  struct Pending {
    const Step& step;
    bool taken = false;
    bool done = false;
    absl::Status status = {};
  };

  StateLog(const Directory& directory, Options options, StateContents contents);

  absl::Status Create();
  absl::Status Settle(const StateContents& contents);
  absl::Status RemoveOlder() const;

  absl::Status Execute(const Step& step, Deadline deadline);
  void Lead() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Apply(std::vector<StateChange> changes) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::uint64_t SizeOf(const memory::RowKey& key) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  bool RewriteIsDue() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  EncodedState Rewritten(const SegmentHeader& header) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  SegmentHeader NewHeader(std::uint64_t generation) const;

  // Of the leader, without the mutex.
  absl::Status Write(const std::vector<StateChange>& changes);
  absl::Status Rewrite();
  void Report(const absl::Status& status);

  const Directory& directory_;
  const Options options_;
  std::function<void(const absl::Status& why)> on_fatal_;

  mutable Mutex mutex_;
  CondVar done_;
  bool leading_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<Pending*> waiting_ ABSL_GUARDED_BY(mutex_);
  memory::RowTable rows_ ABSL_GUARDED_BY(mutex_);
  std::uint64_t live_bytes_ ABSL_GUARDED_BY(mutex_) = 0;  // What a rewritten file would have.
  absl::Status fatal_ ABSL_GUARDED_BY(mutex_);

  // Of whoever leads.
  Fd file_;
  std::uint64_t generation_ = 0;
  SegmentHeader header_;
  std::uint64_t size_ = 0;
  Tx last_ = Tx::kBeforeFirst;
  FrameDigest digest_ = FrameDigest::kNone;
  std::uint64_t next_rewrite_ = 0;  // Not before the file has as many bytes.
};

// Rows of a directory that is open for reading only: there are none, and nothing can be changed.
class NoRows final : public memory::Rows {
 public:
  absl::Status Change(const memory::RowKey&, const Decide&, Deadline) override {
    return ReadingOnly();
  }
  std::optional<memory::Row> Read(const memory::RowKey&) const override { return std::nullopt; }
  absl::StatusOr<int> Sweep(int, Deadline) override { return ReadingOnly(); }
  Timestamp Now() const override { return SystemClock().Now(); }

 private:
  static absl::Status ReadingOnly() {
    return absl::UnavailableError("the data directory is open for reading only");
  }
};

}  // namespace engine::file
