// A journal in front of another one, with hooks where tests want to hold, fail or watch it.

#pragma once

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
  // Before all rows are read; an error is the answer.
  std::function<absl::Status()> before_scan;
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
  absl::StatusOr<std::vector<engine::Record>> ReadStream(engine::StreamId stream,
                                                         engine::Position from, int limit,
                                                         engine::Deadline deadline) override {
    return behind_->ReadStream(stream, from, limit, deadline);
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
    return behind_->Scan(options, sink, deadline);
  }
  absl::StatusOr<int> PruneAnswers(engine::Duration age, int limit,
                                   engine::Deadline deadline) override {
    return behind_->PruneAnswers(age, limit, deadline);
  }

 private:
  class HookedTransaction;

  engine::Journal* behind_;
  std::string origin_;
};

}  // namespace support
