// PostgresJournal: the journal's seam in SQL. See engine/journal.h.

#pragma once

#include <memory>

#include "engine/journal.h"
#include "engine/postgres/lives.h"
#include "engine/postgres/pool.h"
#include "engine/postgres/statements.h"

namespace engine::postgres {

// Thread-safe; its calls block.
class PostgresJournal final : public Journal {
 public:
  // `statements`, `pool` and `lives` must outlive it.
  PostgresJournal(Catalogue catalogue, const Statements& statements, Pool& pool, Lives& lives,
                  Duration request_timeout)
      : catalogue_(std::move(catalogue)),
        statements_(statements),
        pool_(pool),
        lives_(lives),
        request_timeout_(request_timeout) {}

  const Catalogue& catalogue() const override { return catalogue_; }
  absl::StatusOr<std::unique_ptr<Transaction>> Begin(Deadline deadline) override;
  absl::StatusOr<News> ReadAfter(const Cursors& after, Deadline deadline) override;
  // Null behind a pooler, too: there a question is a transaction.
  std::unique_ptr<PendingNews> AskAfter(const Cursors& after) override;
  absl::StatusOr<std::vector<Record>> ReadStream(StreamId stream, Position from, int limit,
                                                 Deadline deadline) override;
  absl::StatusOr<std::vector<StreamTail>> Tails(Deadline deadline) override;
  absl::Status Scan(const ScanOptions& options, const RowSink& sink, Deadline deadline) override;
  absl::StatusOr<int> PruneAnswers(Duration age, int limit, Deadline deadline) override;
  absl::StatusOr<Floor> Compact(const CompactionStep& step, Deadline deadline) override;

 private:
  Deadline Bounded(Deadline deadline) const {
    return deadline.EarlierOf(Deadline::After(request_timeout_));
  }

  const Catalogue catalogue_;
  const Statements& statements_;
  Pool& pool_;
  Lives& lives_;
  const Duration request_timeout_;
};

// One read-only statement: alone on a direct connection, whose session has our settings, else in
// a transaction that has them, in one round trip all the same.
absl::StatusOr<Result> AskOn(Connection& connection, const Statements& statements, Step step,
                             Deadline deadline);

}  // namespace engine::postgres
