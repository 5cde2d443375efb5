#include "engine/memory/memory.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/answer_table.h"
#include "engine/append_check.h"
#include "engine/base/guard.h"
#include "engine/base/mutex.h"
#include "engine/base/reason.h"
#include "engine/base/status_macros.h"
#include "engine/compaction_check.h"
#include "engine/local_presence.h"
#include "engine/memory/key_value.h"
#include "engine/memory/leases.h"
#include "engine/memory/rows.h"
#include "engine/news_page.h"

namespace engine::memory {
namespace {

std::vector<Record>::const_iterator FirstAfter(const std::vector<Record>& rows, Position after) {
  return std::ranges::upper_bound(rows, after, {}, &Record::position);
}

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
  Presence& presence() override { return presence_; }
  absl::Status CheckReady(Deadline) override { return absl::OkStatus(); }
  std::string backend() const override { return "memory"; }

  const Catalogue& catalogue() const override { return catalogue_; }
  absl::StatusOr<std::unique_ptr<Transaction>> Begin(Deadline deadline) override;
  absl::StatusOr<News> ReadAfter(const Cursors& after, Deadline deadline) override;
  absl::StatusOr<std::vector<Record>> ReadStream(StreamId stream, Position from, int limit,
                                                 Deadline deadline) override;
  absl::StatusOr<std::vector<StreamTail>> Tails(Deadline deadline) override;
  absl::Status Scan(const ScanOptions& options, const RowSink& sink, Deadline deadline) override;
  absl::StatusOr<Floor> Compact(const CompactionStep& step, Deadline deadline) override;

  absl::StatusOr<int> PruneAnswers(Duration age, int limit, Deadline deadline) override;

  RowLeases& row_leases() { return leases_; }
  LockedState ReadLocked(const Question& question);
  absl::Status Check(const Appending& appending);
  CommitOutcome Take(std::vector<Record> rows, std::vector<KeptAnswer> answers);
  void Unlock();

 private:
  News NewsAfter(const Cursors& after) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Catalogue catalogue_;
  const Clock& clock_;
  MemoryRows state_{clock_};
  RowKeyValue key_value_{state_};
  RowLeases leases_{state_};
  LocalPresence presence_{clock_};
  Mutex mutex_;
  CondVar unlocked_;
  bool locked_ ABSL_GUARDED_BY(mutex_) = false;  // The journal's lock: a transaction is open.
  std::map<StreamId, std::vector<Record>> rows_ ABSL_GUARDED_BY(mutex_);
  std::vector<StreamTail> tails_ ABSL_GUARDED_BY(mutex_);
  Tx last_tx_ ABSL_GUARDED_BY(mutex_) = Tx::kBeforeFirst;
  AnswerTable answers_ ABSL_GUARDED_BY(mutex_);
};

class MemoryTransaction final : public Transaction {
 public:
  MemoryTransaction(MemoryJournal& journal, Deadline deadline)
      : journal_(journal), deadline_(deadline) {}
  ~MemoryTransaction() override {
    if (open_) {
      journal_.Unlock();
    }
  }

  absl::StatusOr<LockedState> Read(const Question& question) override {
    LockedState state = journal_.ReadLocked(question);
    ASSIGN_OR_RETURN(state.fences, terms_.Judge(journal_.row_leases(), question.fences, deadline_));
    return state;
  }

  absl::Status Append(std::vector<Record> rows, std::vector<KeptAnswer> answers) override {
    RETURN_IF_ERROR(journal_.Check({rows, answers}));
    rows_ = std::move(rows);
    answers_ = std::move(answers);
    return absl::OkStatus();
  }

  CommitOutcome Commit(Deadline deadline) override {
    CommitOutcome outcome = {CommitOutcome::Kind::kFailed,
                             absl::DeadlineExceededError("the deadline passed before the commit")};
    if (GUARD("memory.commit-deadline", !deadline.HasPassed())) {
      outcome = journal_.Take(std::move(rows_), std::move(answers_));
    }
    terms_.Leave();
    journal_.Unlock();
    open_ = false;
    return outcome;
  }

 private:
  MemoryJournal& journal_;
  const Deadline deadline_;
  LockedTerms terms_;
  std::vector<Record> rows_;
  std::vector<KeptAnswer> answers_;
  bool open_ = true;
};

absl::StatusOr<std::unique_ptr<Transaction>> MemoryJournal::Begin(Deadline deadline) {
  MutexLock lock(mutex_);
  while (!GUARD("memory.lock", !locked_)) {
    if (!unlocked_.WaitUntil(mutex_, deadline) && locked_) {
      return WithReason(Reason::kLockBusy,
                        absl::DeadlineExceededError("waiting for the journal's lock"));
    }
  }
  locked_ = true;
  return std::make_unique<MemoryTransaction>(*this, deadline);
}

News MemoryJournal::NewsAfter(const Cursors& after) const {
  NewsPage page(after);
  for (const StreamCursor& cursor : after) {
    const std::vector<Record>& rows = rows_.at(cursor.stream);
    const StreamTail& tail = *std::ranges::find(tails_, cursor.stream, &StreamTail::stream);
    if (!GUARD("memory.below-floor", Next(cursor.position) >= tail.floor.position)) {
      page.Leave(cursor.stream);
      continue;
    }
    for (auto row = FirstAfter(rows, cursor.position); row != rows.end(); ++row) {
      if (!page.Add(*row)) {
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
  const auto first = std::ranges::lower_bound(rows, from, {}, &Record::position);
  return std::vector<Record>(first, first + std::min<std::ptrdiff_t>(limit, rows.end() - first));
}

absl::StatusOr<std::vector<StreamTail>> MemoryJournal::Tails(Deadline) {
  MutexLock lock(mutex_);
  return tails_;
}

absl::Status MemoryJournal::Scan(const ScanOptions& options, const RowSink& sink, Deadline) {
  std::vector<Record> rows;
  std::vector<StreamTail> tails;
  {
    MutexLock lock(mutex_);
    tails = tails_;
    for (const StreamCursor& cursor : options.after) {
      const std::vector<Record>& stream = rows_.at(cursor.stream);
      for (auto row = FirstAfter(stream, cursor.position); row != stream.end(); ++row) {
        if (!options.through.has_value() || row->tx <= *options.through) {
          rows.push_back(*row);
        }
      }
    }
  }
  if (options.on_tails) {
    RETURN_IF_ERROR(options.on_tails(tails));
  }
  return rows.empty() ? absl::OkStatus() : sink(rows);
}

absl::StatusOr<Floor> MemoryJournal::Compact(const CompactionStep& step, Deadline) {
  MutexLock lock(mutex_);
  const auto tail = std::ranges::find(tails_, step.stream, &StreamTail::stream);
  if (tail == tails_.end()) {
    return CheckCompaction(catalogue_, {}, step);
  }
  RETURN_IF_ERROR(CheckCompaction(catalogue_, *tail, step));
  std::vector<Record>& rows = rows_.at(step.stream);
  std::uint64_t sum = 0;
  std::uint64_t found = 0;
  for (const engine::RowKey& removed : step.remove) {
    const auto row = std::ranges::lower_bound(rows, removed.position, {}, &Record::position);
    if (row != rows.end() && row->position == removed.position && row->key == removed.key) {
      ++found;
      sum += row->checksum;
    }
  }
  if (!GUARD("memory.removed-rows", found == step.remove.size())) {
    return RowsAreMissing(step, found);
  }
  std::erase_if(rows, [&](const Record& row) {
    return std::ranges::binary_search(step.remove, row.position, {}, &engine::RowKey::position);
  });
  tail->floor = FloorAfter(step, found, sum);
  return tail->floor;
}

LockedState MemoryJournal::ReadLocked(const Question& question) {
  MutexLock lock(mutex_);
  LockedState state{NewsAfter(question.after), tails_, last_tx_, clock_.Now()};
  for (const StreamTail& tail : tails_) {
    state.now = std::max(state.now, tail.at);
  }
  state.answers = answers_.Find(question.answers);
  return state;
}

absl::Status MemoryJournal::Check(const Appending& appending) {
  MutexLock lock(mutex_);
  if (answers_.HasAny(appending.answers)) {
    return absl::AbortedError("the key has an answer already");
  }
  return CheckAppend(catalogue_, tails_, last_tx_, appending);
}

absl::StatusOr<int> MemoryJournal::PruneAnswers(Duration age, int limit, Deadline) {
  MutexLock lock(mutex_);
  return static_cast<int>(
      answers_.Prune(AnswersBefore(clock_.Now(), age), static_cast<std::size_t>(limit)));
}

CommitOutcome MemoryJournal::Take(std::vector<Record> rows, std::vector<KeptAnswer> answers) {
  MutexLock lock(mutex_);
  if (rows.empty()) {
    return {CommitOutcome::Kind::kFailed, absl::InvalidArgumentError("nothing was appended")};
  }
  tails_ = TailsAfter(catalogue_, std::move(tails_), rows);
  last_tx_ = rows.back().tx;
  for (Record& row : rows) {
    rows_[row.stream].push_back(std::move(row));
  }
  for (KeptAnswer& answer : answers) {
    answers_.Add(std::move(answer));
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
