#include "engine/postgres/journal.h"

#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/check.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "engine/postgres/compaction.h"
#include "engine/postgres/nested_limits.h"
#include "engine/postgres/rows.h"
#include "engine/postgres/scan.h"
#include "engine/postgres/transaction.h"

namespace engine::postgres {
namespace {

// The answer of a connection, judged: a standby, or one without our table, is not the server that
// we want.
absl::StatusOr<News> Judged(absl::StatusOr<News> news, Lives& lives, Connection& connection) {
  absl::Status status = news.ok() ? lives.Judge(news->origin) : news.status();
  if (!status.ok()) {
    connection.Close();
    return status;
  }
  return news;
}

absl::StatusOr<News> NoNews(const Cursors& after, const Result& result) {
  ASSIGN_OR_RETURN(Origin origin, OriginOf(result, kServerStart));
  return News{.after = after, .rows = {}, .complete = true, .origin = std::move(origin)};
}

Params AllNewsParams(const Cursors& after) {
  return NewsParams(after, kNewsRowLimit, static_cast<std::int64_t>(kNewsPageBytes));
}

// Asks whether there is any news, and for it if there is.
class PostgresPendingNews final : public PendingNews {
 public:
  PostgresPendingNews(Cursors after, Pool::Lease lease, const Statements& statements, Lives& lives)
      : after_(std::move(after)),
        lease_(std::move(lease)),
        statements_(statements),
        lives_(lives) {}
  ~PostgresPendingNews() override {
    if (!GUARD("postgres.pending-answered", is_answered_)) {
      lease_->Close();  // The next one who asks would get the answer.
    }
  }

  absl::Status Ask() { return lease_->Start({statements_.any_news, AnyNewsParams(after_)}); }
  int descriptor() const override { return lease_->descriptor(); }

  std::optional<absl::StatusOr<News>> Poll() override {
    std::optional<RunOutcome> outcome = lease_->Poll();
    if (!outcome) {
      return std::nullopt;
    }
    absl::Status status = outcome->status;
    if (status.ok() && !is_there_any_ && outcome->results[0].Bool(0, kAnyNews)) {
      is_there_any_ = true;
      status = lease_->Start({statements_.news, AllNewsParams(after_)});
      if (status.ok()) {
        return std::nullopt;
      }
    }
    is_answered_ = true;
    if (!status.ok()) {
      return status;
    }
    absl::StatusOr<News> news =
        is_there_any_ ? NewsOf(after_, outcome->results[0]) : NoNews(after_, outcome->results[0]);
    return Judged(std::move(news), lives_, *lease_);
  }

 private:
  const Cursors after_;
  const Pool::Lease lease_;
  const Statements& statements_;
  Lives& lives_;
  bool is_there_any_ = false;
  bool is_answered_ = false;
};

}  // namespace

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
                   AskOn(*lease, statements_, {statements_.news, AllNewsParams(after)}, bounded));
  return Judged(NewsOf(after, result), lives_, *lease);
}

std::unique_ptr<PendingNews> PostgresJournal::AskAfter(const Cursors& after) {
  std::optional<Pool::Lease> lease = pool_.TryAcquire(Lane::kFlight);
  if (!lease || (*lease)->pooled()) {
    return nullptr;
  }
  auto pending =
      std::make_unique<PostgresPendingNews>(after, *std::move(lease), statements_, lives_);
  // What could not be sent is closed; ReadAfter gets another connection.
  return pending->Ask().ok() ? std::move(pending) : nullptr;
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
