// State is what the engine knows of its journal: where every row lies, where every stream ends,
// how far the journal is durable. Rows appear in it when they are durable, a whole transaction at
// once.
//
// Thread-safe. Never blocks on the disk.

#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/mutex.h"
#include "engine/file/floors.h"
#include "engine/file/index.h"
#include "engine/file/recovery.h"
#include "engine/file/rewrite.h"
#include "engine/file/row_reader.h"
#include "engine/file/segment_log.h"

namespace engine::file {

class State {
 public:
  State(Catalogue catalogue, Contents contents);

  const Catalogue& catalogue() const { return catalogue_; }

  // A moment of the journal.
  struct Cut {
    std::vector<StreamTail> tails;
    HeadMark end;
    std::shared_ptr<const Floors> floors;
  };
  Cut Now() const;
  std::vector<SegmentId> Segments() const;
  HeadMark End() const;
  std::vector<StreamTail> Tails() const;

  // What lies between a cursor and the end of its stream.
  struct Delta {
    StreamCursor after;
    Position through = Position::kBeforeFirst;
    // All rows of it, or nothing when they must be read from disk.
    std::vector<Record> rows;
    // The cursor lies below the floor.
    bool compacted = false;
  };
  // One cut. Fails with kInvalidArgument for a stream that is not in the catalogue.
  absl::StatusOr<std::vector<Delta>> DeltasAfter(const Cursors& after) const;

  struct Places {
    std::vector<Place> rows;
    // Where they end because this segment has to be read first.
    std::optional<std::uint32_t> unread;
  };
  // At most `limit` of the rows from `from` to `through` that there are.
  Places Locate(StreamId stream, Position from, Position through, std::size_t limit) const;
  // The segment with the first row from `from` on, if there can be one.
  std::optional<Tx> SegmentOf(StreamId stream, Position from) const;

  // What is needed to read a segment; empty when it was read.
  std::optional<UnreadSegment> Unread(std::uint32_t segment) const;
  // Shows what ReadUnread found. Does nothing when the segment was written anew or compacted
  // meanwhile.
  void ShowRead(const UnreadSegment& segment, Index rows);

  // The facts of all closed segments, when `sealed` does not have them yet; from then on it is
  // taken to have them, until somebody says that it could not be written.
  std::optional<std::vector<SegmentFacts>> TakeUnsealed();
  void SealFailed();
  bool IsSealed() const;

  // Shows a transaction that is durable.
  void Publish(const SegmentLog::Appended& appended, const Appending& appending);

  // As AnswerTable.
  std::vector<KeptAnswer> Answers(std::span<const std::string> keys) const;
  bool HasAnyAnswer(std::span<const KeptAnswer> answers) const;
  std::size_t PruneAnswers(Timestamp before, std::size_t limit);

  // Shows a step of compaction that is durable: a stream's floor in `floors`, and that `removed`
  // rows are not there any more.
  void Compact(StreamId stream, const std::vector<Position>& removed, Floors floors);

  // The closed segment with the largest part of dead rows, if that is worth writing it anew and no
  // scan is under way.
  std::optional<SegmentId> Sparsest() const;
  // Shows a segment that was written anew, and `floors` without the rows that it lost. False, and
  // nothing is done, while a scan reads the old files.
  bool Replace(const RewrittenSegment& segment, Floors floors);

  // While it lives no segment is replaced. The state must outlive it.
  class Pin {
   public:
    explicit Pin(State& state) : state_(state) { state_.Count(1); }
    ~Pin() { state_.Count(-1); }
    Pin(const Pin&) = delete;
    Pin& operator=(const Pin&) = delete;

   private:
    State& state_;
  };

  // Fills in the last record of a chained stream, read when the engine is opened.
  void SetLastPayload(StreamId stream, Payload payload);

 private:
  void Count(int scans);
  bool IsPinned() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  const StreamTail* FindTail(StreamId stream) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Catalogue catalogue_;
  mutable Mutex mutex_;
  std::vector<SegmentFacts> facts_ ABSL_GUARDED_BY(mutex_);  // Of each segment.
  std::vector<std::uint64_t> dead_ ABSL_GUARDED_BY(mutex_);  // Rows of each.
  bool is_sealed_ ABSL_GUARDED_BY(mutex_);
  Index index_ ABSL_GUARDED_BY(mutex_);
  RecentRows recent_ ABSL_GUARDED_BY(mutex_);
  std::vector<StreamTail> tails_ ABSL_GUARDED_BY(mutex_);
  HeadMark end_ ABSL_GUARDED_BY(mutex_);
  AnswerTable answers_ ABSL_GUARDED_BY(mutex_);
  std::shared_ptr<const Floors> floors_ ABSL_GUARDED_BY(mutex_);
  int scans_ ABSL_GUARDED_BY(mutex_) = 0;  // Under way.
};

}  // namespace engine::file
