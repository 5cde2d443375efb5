#include "engine/postgres/journal.h"

#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/check.h"
#include "engine/base/status_macros.h"
#include "engine/postgres/compaction.h"
#include "engine/postgres/nested_limits.h"
#include "engine/postgres/rows.h"
#include "engine/postgres/scan.h"
#include "engine/postgres/transaction.h"

namespace engine::postgres {

absl::StatusOr<Result> AskOn(Connection& connection, const Statements& statements, Step step,
                             Deadline deadline) {
  if (!connection.pooled()) {
    RunOutcome outcome = connection.Run({std::move(step)}, deadline);
    RETURN_IF_ERROR(outcome.status);
    return std::move(outcome.results[0]);
  }
  const Limits limits = LimitsFor(deadline);
  Params pins;
  pins.Text(statements.schema_path).Text(limits.LockText()).Text(limits.StatementText());
  RunOutcome outcome = connection.Run({{statements.begin_read, {}},
                                       {statements.pins, std::move(pins)},
                                       std::move(step),
                                       {statements.commit, {}}},
                                      deadline);
  if (!outcome.status.ok()) {
    connection.Close();  // It may have been left in a failed transaction.
    return outcome.status;
  }
  return std::move(outcome.results[2]);
}

absl::StatusOr<std::unique_ptr<Transaction>> PostgresJournal::Begin(Deadline deadline) {
  const Deadline bounded = Bounded(deadline);
  ASSIGN_OR_RETURN(Pool::Lease lease, pool_.Acquire(Lane::kCommit, bounded));
  return PostgresTransaction::Begin(catalogue_, statements_, std::move(lease), lives_, bounded);
}

absl::StatusOr<News> PostgresJournal::ReadAfter(const Cursors& after, Deadline deadline) {
  const Deadline bounded = Bounded(deadline);
  ASSIGN_OR_RETURN(const Pool::Lease lease, pool_.Acquire(Lane::kFlight, bounded));
  ASSIGN_OR_RETURN(const Result result,
                   AskOn(*lease, statements_,
                         {statements_.news, NewsParams(after, kNewsRowLimit,
                                                       static_cast<std::int64_t>(kNewsPageBytes))},
                         bounded));
  absl::StatusOr<News> news = NewsOf(after, result);
  absl::Status status = news.ok() ? lives_.Judge(news->origin) : news.status();
  if (!status.ok()) {
    lease->Close();  // A standby, or a table that is gone: not the server that we want.
    return status;
  }
  return news;
}

absl::StatusOr<std::vector<Record>> PostgresJournal::ReadStream(StreamId stream, Position from,
                                                                int limit, Deadline deadline) {
  ENGINE_CHECK(limit > 0);
  const std::uint64_t before = Raw(from) == 0 ? 0 : Raw(from) - 1;
  const Cursors after = {{stream, Position{before}, Digest::kEmpty}};
  const Deadline bounded = Bounded(deadline);
  ASSIGN_OR_RETURN(const Pool::Lease lease, pool_.Acquire(Lane::kShared, bounded));
  ASSIGN_OR_RETURN(
      const Result result,
      AskOn(*lease, statements_,
            {statements_.rows, NewsParams(after, limit, static_cast<std::int64_t>(kNewsPageBytes))},
            bounded));
  const absl::StatusOr<Origin> origin = OriginOf(result, kServerStart);
  absl::Status status = origin.ok() ? lives_.Judge(*origin) : origin.status();
  if (!status.ok()) {
    lease->Close();
    return status;
  }
  return NewsRows(result);
}

absl::StatusOr<std::vector<StreamTail>> PostgresJournal::Tails(Deadline deadline) {
  const Deadline bounded = Bounded(deadline);
  ASSIGN_OR_RETURN(const Pool::Lease lease, pool_.Acquire(Lane::kShared, bounded));
  ASSIGN_OR_RETURN(
      const Result result,
      AskOn(*lease, statements_, {statements_.tails, TailsParams(catalogue_)}, bounded));
  absl::StatusOr<AllTails> all = TailsOf(catalogue_, result);
  absl::Status status = all.ok() ? lives_.Judge(all->origin) : all.status();
  if (!status.ok()) {
    lease->Close();
    return status;
  }
  return std::move(all->tails);
}

absl::StatusOr<Floor> PostgresJournal::Compact(const CompactionStep& step, Deadline deadline) {
  const Deadline bounded = Bounded(deadline);
  ASSIGN_OR_RETURN(const Pool::Lease lease, pool_.Acquire(Lane::kShared, bounded));
  absl::StatusOr<Floor> floor = CompactOn(*lease, statements_, catalogue_, step, bounded);
  if (!floor.ok()) {
    lease->Close();  // It is in a transaction that must not be committed.
  }
  return floor;
}

absl::Status PostgresJournal::Scan(const ScanOptions& options, const RowSink& sink,
                                   Deadline deadline) {
  ASSIGN_OR_RETURN(const Pool::Lease lease, pool_.Acquire(Lane::kShared, deadline));
  const absl::Status status = ScanOn(*lease, statements_, catalogue_, options, sink, deadline);
  if (!status.ok()) {
    lease->Close();
  }
  return status;
}

absl::StatusOr<int> PostgresJournal::PruneAnswers(Duration age, int limit, Deadline deadline) {
  ENGINE_CHECK(limit > 0);
  const Deadline bounded = Bounded(deadline);
  ASSIGN_OR_RETURN(const Pool::Lease lease, pool_.Acquire(Lane::kShared, bounded));
  const Limits limits = LimitsFor(bounded);
  Params pins;
  pins.Text(statements_.schema_path).Text(limits.LockText()).Text(limits.StatementText());
  Params oldest;
  oldest.Int64(std::chrono::duration_cast<std::chrono::microseconds>(age).count()).Int64(limit);
  const RunOutcome outcome = lease->Run({{statements_.begin, {}},
                                         {statements_.pins, std::move(pins)},
                                         {statements_.prune, std::move(oldest)},
                                         {statements_.commit, {}}},
                                        bounded);
  if (!outcome.status.ok()) {
    lease->Close();  // It may have been left in a failed transaction.
    return outcome.status;
  }
  return static_cast<int>(outcome.results[2].Int64(0, 0));
}

}  // namespace engine::postgres
