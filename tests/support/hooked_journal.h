// A journal in front of another one, with hooks where tests want to hold, fail or watch it.

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/journal.h"

namespace support {

struct JournalHooks {
  // Before the lock is asked for; an error is the answer.
  std::function<absl::Status()> before_begin;
  // After a flight's snapshot was taken, before its rows are handed back; an error is the answer.
  std::function<absl::Status()> after_read;
  // Answers AskAfter. Empty: it has nothing at hand.
  std::function<std::unique_ptr<engine::PendingNews>(const engine::Cursors& after)> ask_after;
  // Before all rows are read; an error is the answer.
  std::function<absl::Status()> before_scan;
  // Changes the rows that ReadStream and Scan hand out.
  std::function<void(std::vector<engine::Record>& rows)> on_rows;
  // Instead of the commit: `commit` does it for real. Empty: the real one.
  std::function<engine::CommitOutcome(const std::vector<engine::Record>& rows,
                                      const std::function<engine::CommitOutcome()>& commit)>
      on_commit;
};

// Thread-safe as the journal behind it. Set the hooks before it is used by other threads.
class HookedJournal final : public engine::Journal {
 public:
  explicit HookedJournal(engine::Journal& behind) : behind_(&behind) {}

  // From now on another store answers, under another origin. Not while it is used.
  void SwitchTo(engine::Journal& behind, std::string origin) {
    behind_ = &behind;
    origin_ = std::move(origin);
  }

  JournalHooks hooks;

  const engine::Catalogue& catalogue() const override { return behind_->catalogue(); }
  absl::StatusOr<std::unique_ptr<engine::Transaction>> Begin(engine::Deadline deadline) override;
  absl::StatusOr<engine::News> ReadAfter(const engine::Cursors& after,
                                         engine::Deadline deadline) override;
  std::unique_ptr<engine::PendingNews> AskAfter(const engine::Cursors& after) override {
    return hooks.ask_after ? hooks.ask_after(after) : nullptr;
  }
  absl::StatusOr<std::vector<engine::Record>> ReadStream(engine::StreamId stream,
                                                         engine::Position from, int limit,
                                                         engine::Deadline deadline) override {
    auto rows = behind_->ReadStream(stream, from, limit, deadline);
    rows_read_ += rows.ok() ? rows->size() : 0;
    if (rows.ok() && hooks.on_rows) {
      hooks.on_rows(*rows);
    }
    return rows;
  }
  absl::StatusOr<std::vector<engine::StreamTail>> Tails(engine::Deadline deadline) override {
    return behind_->Tails(deadline);
  }
  absl::Status Scan(const engine::ScanOptions& options, const engine::RowSink& sink,
                    engine::Deadline deadline) override {
    if (const absl::Status scan = hooks.before_scan ? hooks.before_scan() : absl::OkStatus();
        !scan.ok()) {
      return scan;
    }
    return behind_->Scan(
        options,
        [&](std::span<const engine::Record> rows) {
          rows_read_ += rows.size();
          rows_scanned_ += rows.size();
          if (!hooks.on_rows) {
            return sink(rows);
          }
          std::vector<engine::Record> changed(rows.begin(), rows.end());
          hooks.on_rows(changed);
          return sink(changed);
        },
        deadline);
  }
  absl::StatusOr<int> PruneAnswers(engine::Duration age, int limit,
                                   engine::Deadline deadline) override {
    return behind_->PruneAnswers(age, limit, deadline);
  }

  absl::StatusOr<engine::Floor> Compact(const engine::CompactionStep& step,
                                        engine::Deadline deadline) override {
    return behind_->Compact(step, deadline);
  }

  // The rows that ReadStream and Scan handed out so far.
  std::uint64_t rows_read() const { return rows_read_; }
  std::uint64_t rows_scanned() const { return rows_scanned_; }  // By Scan alone.

 private:
  class HookedTransaction;

  engine::Journal* behind_;
  std::string origin_;
  std::atomic<std::uint64_t> rows_read_ = 0;
  std::atomic<std::uint64_t> rows_scanned_ = 0;
};

}  // namespace support
