// FileJournal reads and writes the journal of one directory; opened for reading only it has no
// log and refuses to begin.
//
// Thread-safe, as engine/journal.h wants.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/thread.h"
#include "engine/file/directory.h"
#include "engine/file/file.h"
#include "engine/file/head_file.h"
#include "engine/file/segment_log.h"
#include "engine/file/state.h"
#include "engine/file/state_log.h"
#include "engine/file/turn.h"
#include "engine/local_presence.h"
#include "engine/memory/key_value.h"
#include "engine/memory/leases.h"

namespace engine::file {

// What writing takes; none of it is there in a journal opened for reading only.
struct Writing {
  std::unique_ptr<HeadFile> head;
  std::unique_ptr<SegmentLog> log;
  std::unique_ptr<StateLog> rows;  // Leases and key-value rows.
};

// Names this life of this store; files have only one (engine/journal.h, Origin).
inline Origin FileOrigin() {
  return {"file"};
}

class FileJournal final : public Engine, public Journal {
 public:
  FileJournal(std::unique_ptr<Directory> directory, Catalogue catalogue, Contents contents,
              Writing writing, Options options);
  // Writes the head mark a last time.
  ~FileJournal() override;

  // Reads what the tails of chained streams carry. Called once, before anything else.
  absl::Status ReadLastPayloads();

  Journal& journal() override { return *this; }
  KeyValue& key_value() override { return key_value_; }
  Leases& leases() override { return leases_; }
  Presence& presence() override { return presence_; }
  absl::Status CheckReady(Deadline deadline) override;
  std::string backend() const override { return "file"; }

  const Catalogue& catalogue() const override { return state_.catalogue(); }
  absl::StatusOr<std::unique_ptr<Transaction>> Begin(Deadline deadline) override;
  absl::StatusOr<News> ReadAfter(const Cursors& after, Deadline deadline) override;
  absl::StatusOr<std::vector<Record>> ReadStream(StreamId stream, Position from, int limit,
                                                 Deadline deadline) override;
  absl::StatusOr<std::vector<StreamTail>> Tails(Deadline deadline) override;
  absl::Status Scan(const ScanOptions& options, const RowSink& sink, Deadline deadline) override;
  absl::StatusOr<int> PruneAnswers(Duration age, int limit, Deadline deadline) override;
  absl::StatusOr<Floor> Compact(const CompactionStep& step, Deadline deadline) override;

 private:
  friend class FileTransaction;

  // Of the transaction that holds the journal's lock.
  absl::StatusOr<LockedState> ReadLocked(const Question& question, Deadline deadline);
  absl::Status Check(const Appending& appending) const;
  CommitOutcome Write(const Appending& appending);
  void Unlock() { lock_.Leave(); }

  // As State::Locate, where what has to be read for it is read.
  absl::StatusOr<std::vector<Place>> Places(StreamId stream, Position from, Position through,
                                            std::size_t limit) const;
  absl::Status ReadUnread(std::uint32_t segment) const;
  StreamReader ReaderOf(StreamId stream, Position from, Position through,
                        StreamReader::Gaps gaps) const;
  absl::StatusOr<News> ReadDeltas(const Cursors& after, Deadline deadline);
  absl::StatusOr<Floor> CompactInTurn(const CompactionStep& step);
  absl::StatusOr<std::uint64_t> SumOf(const CompactionStep& step) const;
  absl::Status RewriteSparsest();
  memory::Rows& Rows();
  absl::Status Fatal() const;
  void Stop(const absl::Status& why);

  // The head mark's thread.
  void MarkUntilStopped();
  bool WaitToMark();
  void WantMark();
  void Mark();
  absl::Status Seal();

  const std::unique_ptr<Directory> directory_;
  const Options options_;
  LocalPresence presence_{*options_.clock, FileOrigin()};
  const Writing writing_;
  mutable State state_;    // What is read later was there before.
  mutable Mutex reading_;  // One segment is read at a time.
  NoRows no_rows_;
  memory::RowKeyValue key_value_;
  memory::RowLeases leases_;
  Turn lock_;  // The journal's lock: a transaction is open.
  Turn compaction_;

  mutable Mutex mutex_;
  CondVar wake_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  bool unmarked_ ABSL_GUARDED_BY(mutex_) = false;  // Rows are durable behind the head mark.
  absl::Status fatal_ ABSL_GUARDED_BY(mutex_);
  Thread marker_;
};

}  // namespace engine::file
