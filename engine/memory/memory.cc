#include "engine/memory/memory.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/append_check.h"
#include "engine/base/guard.h"
#include "engine/base/mutex.h"
#include "engine/base/status_macros.h"
#include "engine/memory/key_value.h"
#include "engine/memory/leases.h"
#include "engine/memory/rows.h"
#include "engine/news_page.h"

namespace engine::memory {
namespace {

class MemoryJournal final : public Engine, public Journal {
 public:
  MemoryJournal(Catalogue catalogue, const Clock& clock)
      : catalogue_(std::move(catalogue)), clock_(clock), tails_(EmptyTails(catalogue_)) {
    for (const StreamSpec& spec : catalogue_) {
      rows_[spec.id];
    }
  }

  Journal& journal() override { return *this; }
  KeyValue& key_value() override { return key_value_; }
  Leases& leases() override { return leases_; }
  absl::Status CheckReady(Deadline) override { return absl::OkStatus(); }
  std::string backend() const override { return "memory"; }

  const Catalogue& catalogue() const override { return catalogue_; }
  absl::StatusOr<std::unique_ptr<Transaction>> Begin(Deadline deadline) override;
  absl::StatusOr<News> ReadAfter(const Cursors& after, Deadline deadline) override;
  absl::StatusOr<std::vector<Record>> ReadStream(StreamId stream, Position from, int limit,
                                                 Deadline deadline) override;
  absl::StatusOr<std::vector<StreamTail>> Tails(Deadline deadline) override;
  absl::Status Scan(const ScanOptions& options, const RowSink& sink, Deadline deadline) override;

  LockedState ReadLocked(const Cursors& after);
  absl::Status CheckRows(std::span<const Record> rows);
  CommitOutcome Take(std::vector<Record> rows);
  void Unlock();

 private:
  News NewsAfter(const Cursors& after) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Catalogue catalogue_;
  const Clock& clock_;
  MemoryRows state_{clock_};
  RowKeyValue key_value_{state_};
  RowLeases leases_{state_};
  Mutex mutex_;
  CondVar unlocked_;
  bool locked_ ABSL_GUARDED_BY(mutex_) = false;  // The journal's lock: a transaction is open.
  std::map<StreamId, std::vector<Record>> rows_ ABSL_GUARDED_BY(mutex_);
  std::vector<StreamTail> tails_ ABSL_GUARDED_BY(mutex_);
  Tx last_tx_ ABSL_GUARDED_BY(mutex_) = Tx::kBeforeFirst;
};

class MemoryTransaction final : public Transaction {
 public:
  explicit MemoryTransaction(MemoryJournal& journal) : journal_(journal) {}
  ~MemoryTransaction() override {
    if (open_) {
      journal_.Unlock();
    }
  }

  absl::StatusOr<LockedState> Read(const Cursors& after) override {
    return journal_.ReadLocked(after);
  }

  absl::Status Append(std::vector<Record> rows) override {
    RETURN_IF_ERROR(journal_.CheckRows(rows));
    rows_ = std::move(rows);
    return absl::OkStatus();
  }

  CommitOutcome Commit() override {
    CommitOutcome outcome = journal_.Take(std::move(rows_));
    journal_.Unlock();
    open_ = false;
    return outcome;
  }

 private:
  MemoryJournal& journal_;
  std::vector<Record> rows_;
  bool open_ = true;
};

absl::StatusOr<std::unique_ptr<Transaction>> MemoryJournal::Begin(Deadline deadline) {
  MutexLock lock(mutex_);
  while (!GUARD("memory.lock", !locked_)) {
    if (!unlocked_.WaitUntil(mutex_, deadline) && locked_) {
      return absl::DeadlineExceededError("waiting for the journal's lock");
    }
  }
  locked_ = true;
  return std::make_unique<MemoryTransaction>(*this);
}

News MemoryJournal::NewsAfter(const Cursors& after) const {
  NewsPage page(after);
  for (const StreamCursor& cursor : after) {
    const std::vector<Record>& rows = rows_.at(cursor.stream);
    for (std::size_t i = Raw(cursor.position); i < rows.size(); ++i) {
      if (!page.Add(rows[i])) {
        break;
      }
    }
  }
  return std::move(page).Finish();
}

absl::StatusOr<News> MemoryJournal::ReadAfter(const Cursors& after, Deadline deadline) {
  if (deadline.HasPassed()) {
    return absl::DeadlineExceededError("reading the journal");
  }
  MutexLock lock(mutex_);
  return NewsAfter(after);
}

absl::StatusOr<std::vector<Record>> MemoryJournal::ReadStream(StreamId stream, Position from,
                                                              int limit, Deadline) {
  MutexLock lock(mutex_);
  const std::vector<Record>& rows = rows_.at(stream);
  const std::size_t first = Raw(from) == 0 ? 0 : std::min(rows.size(), Raw(from) - 1);
  const std::size_t last = std::min(rows.size(), first + static_cast<std::size_t>(limit));
  return std::vector<Record>(rows.begin() + static_cast<std::ptrdiff_t>(first),
                             rows.begin() + static_cast<std::ptrdiff_t>(last));
}

absl::StatusOr<std::vector<StreamTail>> MemoryJournal::Tails(Deadline) {
  MutexLock lock(mutex_);
  return tails_;
}

absl::Status MemoryJournal::Scan(const ScanOptions& options, const RowSink& sink, Deadline) {
  std::vector<Record> rows;
  {
    MutexLock lock(mutex_);
    for (const StreamCursor& cursor : options.after) {
      const std::vector<Record>& stream = rows_.at(cursor.stream);
      for (std::size_t i = Raw(cursor.position); i < stream.size(); ++i) {
        if (!options.through.has_value() || stream[i].tx <= *options.through) {
          rows.push_back(stream[i]);
        }
      }
    }
  }
  return rows.empty() ? absl::OkStatus() : sink(rows);
}

LockedState MemoryJournal::ReadLocked(const Cursors& after) {
  MutexLock lock(mutex_);
  LockedState state{NewsAfter(after), tails_, last_tx_, clock_.Now()};
  for (const StreamTail& tail : tails_) {
    state.now = std::max(state.now, tail.at);
  }
  return state;
}

absl::Status MemoryJournal::CheckRows(std::span<const Record> rows) {
  MutexLock lock(mutex_);
  return CheckAppend(catalogue_, tails_, last_tx_, rows);
}

CommitOutcome MemoryJournal::Take(std::vector<Record> rows) {
  MutexLock lock(mutex_);
  if (rows.empty()) {
    return {CommitOutcome::Kind::kFailed, absl::InvalidArgumentError("nothing was appended")};
  }
  tails_ = TailsAfter(catalogue_, std::move(tails_), rows);
  last_tx_ = rows.back().tx;
  for (Record& row : rows) {
    rows_[row.stream].push_back(std::move(row));
  }
  return {CommitOutcome::Kind::kCommitted, absl::OkStatus()};
}

void MemoryJournal::Unlock() {
  {
    MutexLock lock(mutex_);
    locked_ = false;
  }
  unlocked_.SignalAll();
}

}  // namespace

std::unique_ptr<Engine> Open(Catalogue catalogue, const Clock& clock) {
  return std::make_unique<MemoryJournal>(std::move(catalogue), clock);
}

}  // namespace engine::memory
