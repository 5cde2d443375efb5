#include "engine/postgres/session.h"

#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/logging.h"
#include "engine/base/mutex.h"
#include "engine/base/status_macros.h"
#include "engine/postgres/migration_file.h"
#include "engine/postgres/nested_limits.h"
#include "engine/postgres/schema.h"
#include "engine/postgres/server_facts.h"

namespace engine::postgres {
namespace {

// One attempt to connect at start may take this long.
constexpr Duration kAttempt = std::chrono::seconds(5);

absl::Status InFrom(const absl::Status& status, const ServerParams& server) {
  return absl::Status(status.code(), absl::StrFormat("%s: %s", Describe(server),
                                                     std::string(status.message().data(),
                                                                 status.message().size())));
}

absl::Status CheckSchema(Connection& connection, const Statements& statements, Deadline deadline) {
  const RunOutcome outcome = connection.Run({{statements.applied, {}}}, deadline);
  RETURN_IF_ERROR(outcome.status);
  const Result& rows = outcome.results[0];
  std::vector<AppliedMigration> applied;
  applied.reserve(static_cast<std::size_t>(rows.rows()));
  for (int row = 0; row < rows.rows(); ++row) {
    applied.push_back({rows.Int32(row, 0), std::string(rows.Bytes(row, 1)), rows.Int32(row, 2)});
  }
  return CheckApplied(EmbeddedMigrations(), applied);
}

// A pooler invents the process id that it tells at connect; the server behind it says another.
bool IsPooled(const Connection& connection, const ServerFacts& facts, Pooler pooler) {
  return pooler == Pooler::kAuto ? facts.backend_pid != connection.backend_pid()
                                 : pooler == Pooler::kTransaction;
}

}  // namespace

void Pause(Duration time) {
  Mutex mutex;
  CondVar never;
  const Deadline deadline = Deadline::After(time);
  MutexLock lock(mutex);
  while (!deadline.HasPassed()) {
    never.WaitUntil(mutex, deadline);
  }
}

// Each server gets an equal share of what time is left.
absl::StatusOr<std::unique_ptr<Connection>> Connector::ConnectToAny(Deadline deadline) const {
  absl::Status last = absl::UnavailableError("no database server is configured");
  for (std::size_t i = 0; i < servers_.size(); ++i) {
    const Duration share = deadline.Remaining() / static_cast<Duration::rep>(servers_.size() - i);
    absl::StatusOr<std::unique_ptr<Connection>> connection = Connection::Connect(
        servers_[i], deadline.EarlierOf(Deadline::After(std::min<Duration>(share, kAttempt))),
        stats_);
    if (connection.ok()) {
      return connection;
    }
    last = InFrom(connection.status(), servers_[i]);
  }
  return last;
}

absl::StatusOr<std::unique_ptr<Connection>> Connector::ConnectBare(Deadline deadline) const {
  ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection, ConnectToAny(deadline));
  ASSIGN_OR_RETURN(const ServerFacts facts, ReadFacts(*connection, deadline));
  connection->set_pooled(IsPooled(*connection, facts, pooler_));
  connection->set_must_be_synchronous(require_synchronous_);
  const ShownFacts shown = Show(facts);
  if (stats_->facts() != shown) {
    LogFacts(facts);
    stats_->SetFacts(shown);
  }
  RETURN_IF_ERROR(CheckFacts(facts, require_synchronous_));
  return connection;
}

absl::StatusOr<std::unique_ptr<Connection>> Connector::Connect(const Statements& statements,
                                                               Deadline deadline) const {
  ASSIGN_OR_RETURN(std::unique_ptr<Connection> connection, ConnectBare(deadline));
  RETURN_IF_ERROR(CheckSchema(*connection, statements, deadline));
  if (connection->pooled()) {
    return connection;
  }
  const Limits limits = LimitsFor(Deadline::After(request_timeout_));
  Params params;
  params.Text(statements.schema_path).Text(limits.LockText()).Text(limits.StatementText());
  RETURN_IF_ERROR(connection->Run({{statements.session, std::move(params)}}, deadline).status);
  // What inserts is prepared by who inserts: a table that somebody keeps others from changing, to
  // make an index perhaps, can still be read.
  std::vector<const Statement*> prepared = {
      &statements.begin,   &statements.settings, &statements.lock, &statements.locked,
      &statements.news,    &statements.any_news, &statements.rows, &statements.tails,
      &statements.answers, &statements.ping};
  if (GUARD("postgres.insert-at-first-use", false)) {
    prepared.push_back(&statements.insert);
  }
  RETURN_IF_ERROR(connection->Prepare(prepared, deadline));
  return connection;
}

absl::StatusOr<std::unique_ptr<Connection>> Connector::ConnectPatiently(
    const Options& options) const {
  for (int attempt = 1;; ++attempt) {
    absl::StatusOr<std::unique_ptr<Connection>> connection =
        ConnectBare(Deadline::After(kAttempt * static_cast<Duration::rep>(servers_.size())));
    const absl::StatusCode code = connection.status().code();
    if (connection.ok() ||
        (code != absl::StatusCode::kUnavailable && code != absl::StatusCode::kDeadlineExceeded)) {
      return connection;
    }
    const std::string why(connection.status().message().data(),
                          connection.status().message().size());
    Log(Severity::kWarning,
        absl::StrFormat("database not reachable, attempt %d of %d", attempt,
                        options.connect_attempts),
        {{"attempt", attempt}, {"of", options.connect_attempts}, {"error", why}});
    if (attempt >= options.connect_attempts) {
      return absl::UnavailableError(
          absl::StrFormat("database not reachable after %d attempts: %s", attempt, why));
    }
    Pause(options.connect_interval);
  }
}

}  // namespace engine::postgres
