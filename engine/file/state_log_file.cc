// How StateLog keeps its file.

#include <string>
#include <utility>

#include "engine/base/guard.h"
#include "engine/base/logging.h"
#include "engine/base/reason.h"
#include "engine/base/status_macros.h"
#include "engine/file/damage.h"
#include "engine/file/recovery.h"
#include "engine/file/state_log.h"

namespace engine::file {
namespace {

using memory::RowKey;

absl::Status CutOff(const Directory& directory, int fd, const StateContents& contents) {
  const std::string name = StateName(contents.generation);
  if (directory.disk().Truncate(fd, contents.size) != 0) {
    return DiskError("cutting the torn frame off " + name);
  }
  Log(Severity::kWarning, "cut a torn frame off the state; it was never acknowledged",
      {{"file", name},
       {"offset", contents.size},
       {"bytes", contents.torn_bytes},
       {"why", contents.torn_why}});
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<StateLog>> StateLog::Open(const Directory& directory,
                                                         Options options) {
  ASSIGN_OR_RETURN(StateContents contents, ReadState(directory));
  std::unique_ptr<StateLog> log(new StateLog(directory, options, contents));
  if (contents.generation == 0) {
    RETURN_IF_ERROR(log->Create());
  } else {
    RETURN_IF_ERROR(log->Settle(contents));
  }
  return log;
}

SegmentHeader StateLog::NewHeader(std::uint64_t generation) const {
  return {.marker = options_.random->NextU64(),
          .first_tx = Tx{generation},
          .previous = FrameDigest::kNone};
}

absl::Status StateLog::Create() {
  const SegmentHeader header = NewHeader(1);
  ASSIGN_OR_RETURN(
      file_, directory_.Replace(StateName(1), EncodeSegmentHeader(header, FrameType::kState)));
  header_ = header;
  generation_ = 1;
  size_ = kSegmentHeaderBytes;
  return absl::OkStatus();
}

// The process before us may have died of a failed sync: then the disk need not hold what can be
// read.
absl::Status StateLog::Settle(const StateContents& contents) {
  ASSIGN_OR_RETURN(file_, directory_.OpenFile(StateName(contents.generation), true));
  if (contents.torn_bytes > 0) {
    RETURN_IF_ERROR(CutOff(directory_, file_.get(), contents));
  }
  RETURN_IF_ERROR(WriteAgain(directory_, file_.get(), 0, contents.size));
  if (directory_.disk().Sync(file_.get()) != 0) {
    return SyncError("syncing " + StateName(contents.generation));
  }
  if (directory_.disk().Sync(directory_.fd()) != 0) {
    return SyncError("syncing directory " + directory_.path());
  }
  return RemoveOlder();
}

absl::Status StateLog::RemoveOlder() const {
  ASSIGN_OR_RETURN(const std::vector<std::uint64_t> generations, directory_.States());
  for (const std::uint64_t generation : generations) {
    if (generation < generation_ &&
        directory_.disk().Remove(directory_.fd(), StateName(generation)) != 0) {
      return DiskError("removing " + StateName(generation));
    }
  }
  return absl::OkStatus();
}

absl::Status StateLog::Write(const std::vector<StateChange>& changes) {
  const std::string name = StateName(generation_);
  const EncodedFrame frame = EncodeStateFrame(header_, Next(last_), digest_, changes);
  if (absl::Status written = WriteAll(directory_.disk(), file_.get(), frame.bytes, size_);
      !written.ok()) {
    // What was written of it must not lie behind the next frame.
    if (directory_.disk().Truncate(file_.get(), size_) != 0) {
      Report(SyncError("removing a part of a frame from " + name));
    }
    return WithReasonOf(written, absl::UnavailableError(MessageOf(ErrorAt(name, size_, written))));
  }
  if (!GUARD("file.state-sync-before-ack", directory_.disk().SyncData(file_.get()) == 0)) {
    const absl::Status failed = SyncError("syncing " + name);
    Report(failed);
    return absl::UnavailableError(MessageOf(failed));
  }
  size_ += frame.bytes.size();
  last_ = Next(last_);
  digest_ = frame.digest;
  return absl::OkStatus();
}

// Twice what is alive: so a byte is written again once for each byte that came since.
bool StateLog::RewriteIsDue() const {
  return size_ > options_.rewrite_bytes && size_ > 2 * live_bytes_ && size_ > next_rewrite_;
}

EncodedState StateLog::Rewritten(const SegmentHeader& header) {
  const Timestamp now = options_.clock->Now();
  for (const RowKey& key : rows_.Expired(now, rows_.all().size())) {
    live_bytes_ -= SizeOf(key);
    rows_.Remove(key);
  }
  return EncodeState(header, rows_);
}

absl::Status StateLog::Rewrite() {
  const SegmentHeader header = NewHeader(generation_ + 1);
  EncodedState state;
  {
    MutexLock lock(mutex_);
    state = Rewritten(header);
  }
  absl::StatusOr<Fd> file = directory_.Replace(StateName(generation_ + 1), state.bytes);
  if (!file.ok()) {
    next_rewrite_ = 2 * size_;
    return file.status();
  }
  file_ = *std::move(file);
  header_ = header;
  ++generation_;
  size_ = state.bytes.size();
  next_rewrite_ = 0;
  last_ = state.last;
  digest_ = state.digest;
  return RemoveOlder();
}

// kInternal means that nothing may be written any more. What else goes wrong here leaves the file
// longer than it need be.
void StateLog::Report(const absl::Status& status) {
  if (absl::IsInternal(status)) {
    Stop(status);
    if (on_fatal_) {
      on_fatal_(status);
    }
  } else if (!status.ok()) {
    Log(Severity::kWarning, "the state could not be rewritten",
        {{"directory", directory_.path()}, {"why", MessageOf(status)}});
  }
}

}  // namespace engine::file
