#include "engine/postgres/connection.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <iterator>

#include <absl/strings/str_format.h>
#include <poll.h>

#include "engine/base/logging.h"
#include "engine/base/reason.h"
#include "engine/base/status_macros.h"
#include "engine/postgres/sqlstate.h"

namespace engine::postgres {
namespace {

struct Finish {
  void operator()(PGconn* connection) const { PQfinish(connection); }
};

int PollTimeout(Deadline deadline) {
  if (deadline.IsInfinite()) {
    return -1;
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline.Remaining()).count();
  return static_cast<int>(std::min<std::int64_t>(left, INT_MAX));
}

// Whether the descriptor was ready for `events` before the deadline.
bool PollUntil(int descriptor, short events, Deadline deadline) {
  for (;;) {
    pollfd entry{.fd = descriptor, .events = events, .revents = 0};
    const int ready = poll(&entry, 1, PollTimeout(deadline));
    if (ready > 0) {
      return true;
    }
    if (ready == 0 || errno != EINTR) {
      return false;
    }
  }
}

absl::Status ConnectTo(PGconn* connection, Deadline deadline) {
  PostgresPollingStatusType wants = PGRES_POLLING_WRITING;
  while (PQstatus(connection) != CONNECTION_BAD && wants != PGRES_POLLING_OK) {
    const short events = wants == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    if (!PollUntil(PQsocket(connection), events, deadline)) {
      return absl::DeadlineExceededError("connecting to the database took too long");
    }
    wants = PQconnectPoll(connection);
    if (wants == PGRES_POLLING_FAILED) {
      break;
    }
  }
  if (wants != PGRES_POLLING_OK) {
    return ErrorFor("", "connecting to the database", PQerrorMessage(connection));
  }
  return absl::OkStatus();
}

DbError KindOf(std::string_view sqlstate) {
  const ErrorMeaning meaning = MeaningOf(sqlstate);
  switch (meaning.code) {
    case absl::StatusCode::kAborted:
      return DbError::kConflict;
    case absl::StatusCode::kDeadlineExceeded:
      return DbError::kTimeout;
    default:
      return meaning.after == AfterError::kDrop ? DbError::kLost : DbError::kRefused;
  }
}

// How long a statement may take before the log tells of it.
constexpr Duration kSlowStatement = std::chrono::milliseconds(200);

SqlFailure FailureOf(std::string_view sqlstate) {
  if (sqlstate.starts_with("23")) {
    return SqlFailure::kConstraint;
  }
  switch (KindOf(sqlstate)) {
    case DbError::kTimeout:
      return SqlFailure::kTimeout;
    case DbError::kLost:
    case DbError::kConnect:
      return SqlFailure::kConnection;
    default:
      return SqlFailure::kOther;
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Connection>> Connection::Connect(const ServerParams& server,
                                                                Deadline deadline,
                                                                std::shared_ptr<Stats> stats) {
  std::vector<const char*> keywords;
  std::vector<const char*> values;
  for (const auto& [keyword, value] : server) {
    keywords.push_back(keyword.c_str());
    values.push_back(value.c_str());
  }
  keywords.push_back(nullptr);
  values.push_back(nullptr);
  std::unique_ptr<PGconn, Finish> raw(PQconnectStartParams(keywords.data(), values.data(), 0));
  absl::Status status = raw == nullptr ? absl::ResourceExhaustedError("no memory to connect")
                                       : ConnectTo(raw.get(), deadline);
  if (!status.ok()) {
    stats->CountError(DbError::kConnect);
    return status;
  }
  try {
    return std::unique_ptr<Connection>(new Connection(raw.release(), std::move(stats)));
  } catch (const std::exception& error) {
    return ErrorFor("", "connecting to the database", error.what());
  }
}

Connection::Connection(PGconn* raw, std::shared_ptr<Stats> stats)
    : pqxx_(Adopt(raw)),
      raw_(raw),
      stats_(std::move(stats)),
      connected_at_(SystemClock().SinceBoot()) {
  PQsetnonblocking(raw_, 1);
  PQsetNoticeReceiver(raw_, &Connection::OnNotice, this);
  ++stats_->connects;
  ++stats_->open_connections;
}

Connection::~Connection() {
  Close();
}

void Connection::Close() {
  if (closed_) {
    return;
  }
  closed_ = true;
  PQfreemem(copy_row_);
  copy_row_ = nullptr;
  raw_ = nullptr;
  pqxx_.reset();
  --stats_->open_connections;
}

void Connection::OnNotice(void* self, const PGresult* notice) {
  const char* severity = PQresultErrorField(notice, PG_DIAG_SEVERITY_NONLOCALIZED);
  const std::string_view level = severity == nullptr ? "WARNING" : severity;
  if (level == "FATAL" || level == "PANIC") {
    static_cast<Connection*>(self)->ended_ = true;
  }
  if (level == "WARNING") {
    const char* message = PQresultErrorField(notice, PG_DIAG_MESSAGE_PRIMARY);
    static_cast<Connection*>(self)->warnings_.emplace_back(message == nullptr ? "" : message);
  }
}

absl::Status Connection::Lost(std::string_view what) {
  const std::string message = closed_ ? "it was closed before" : PQerrorMessage(raw_);
  Close();
  stats_->CountError(DbError::kLost);
  return ErrorFor("", absl::StrFormat("the database connection broke: %s", what), message);
}

absl::Status Connection::Wait(short events, Deadline deadline) {
  if (PollUntil(PQsocket(raw_), events, deadline)) {
    return absl::OkStatus();
  }
  Close();
  stats_->CountError(DbError::kTimeout);
  return absl::DeadlineExceededError("the database did not answer in time");
}

// A server that ends a session says why, lets go of its locks and then hangs up; it may tell of
// changed settings at any time: read on until there is nothing left.
bool Connection::CheckOpen() {
  while (!closed_ && PollUntil(PQsocket(raw_), POLLIN, Deadline::After(Duration::zero()))) {
    const bool read = PQconsumeInput(raw_) == 1;
    PQfreemem(PQnotifies(raw_));  // Takes what was read apart.
    if (!read || ended_ || PQstatus(raw_) != CONNECTION_OK) {
      Close();
    }
  }
  return !closed_;
}

bool Connection::Send(const Step& step) {
  const Params& params = step.params;
  const auto pointers = params.Pointers();
  const auto lengths = params.Lengths();
  const auto formats = params.Formats();
  if (prepared_.contains(step.statement.name)) {
    return PQsendQueryPrepared(raw_, step.statement.name.c_str(), params.size(), pointers.data(),
                               lengths.data(), formats.data(), 1) == 1;
  }
  return PQsendQueryParams(raw_, step.statement.sql.c_str(), params.size(), nullptr,
                           pointers.data(), lengths.data(), formats.data(), 1) == 1;
}

absl::StatusOr<Result> Connection::Next(Deadline deadline) {
  int unsent = PQflush(raw_);
  while (PQisBusy(raw_) == 1) {
    if (unsent < 0) {
      return Lost("sending");
    }
    RETURN_IF_ERROR(Wait(unsent == 1 ? POLLIN | POLLOUT : POLLIN, deadline));
    // While much is still to be sent, the server may wait for us to read what it has to say.
    if (PQconsumeInput(raw_) != 1) {
      break;  // PQgetResult tells what was read before the end, and then the end.
    }
    unsent = PQflush(raw_);
  }
  Result result(PQgetResult(raw_));
  if (result) {
    result.set_warnings(std::exchange(warnings_, {}));
  }
  return result;
}

absl::StatusOr<Result> Connection::NextOfStep(Deadline deadline) {
  ASSIGN_OR_RETURN(Result result, Next(deadline));
  if (!result) {
    return Lost("no answer");
  }
  for (;;) {
    ASSIGN_OR_RETURN(const Result more, Next(deadline));
    if (!more) {
      return result;
    }
    if (PQstatus(raw_) == CONNECTION_BAD) {
      return result;  // An error and then the end: the first one says more.
    }
  }
}

absl::Status Connection::Fail(const Result& result, RunOutcome& outcome) {
  const absl::Status status = ErrorFor(result.sqlstate(), "the database refused", result.message());
  if (ReasonOf(status) != Reason::kLockBusy) {
    stats_->CountError(KindOf(result.sqlstate()));
  }
  const bool drop = MeaningOf(result.sqlstate()).after == AfterError::kDrop ||
                    result.severity() != "ERROR" || PQstatus(raw_) == CONNECTION_BAD;
  outcome.failed_cleanly = !drop;
  if (drop) {
    Close();
  }
  return status;
}

absl::Status Connection::FinishPipeline(Deadline deadline) {
  for (;;) {
    ASSIGN_OR_RETURN(const Result result, Next(deadline));
    if (result && result.status() == PGRES_PIPELINE_SYNC) {
      break;
    }
    if (PQstatus(raw_) == CONNECTION_BAD) {
      return Lost("no end of the pipeline");
    }
  }
  return PQexitPipelineMode(raw_) == 1 ? absl::OkStatus() : Lost("leaving the pipeline");
}

Duration Connection::Note(const Statement& statement, Duration begin) const {
  const Duration now = SystemClock().SinceBoot();
  const SqlKind kind = KindOfSql(statement.sql);
  stats_->queries.Observe(kind, now - begin);
  const bool is_slow = now - begin >= kSlowStatement && stats_->queries.MayTellOfSlow(now);
  if (is_slow || stats_->log_statements.load(std::memory_order_relaxed)) {
    Log(is_slow ? Severity::kWarning : Severity::kInfo, is_slow ? "slow statement" : "statement",
        {{"statement", statement.name},
         {"operation", kSqlOperationNames[static_cast<std::size_t>(kind.operation)]},
         {"table", kSqlTableNames[kind.table]},
         {"duration_ms", std::chrono::duration<double, std::milli>(now - begin).count()}});
  }
  return now;
}

void Connection::NoteFailure(const Statement& statement, SqlFailure failure) const {
  const bool is_commit = statement.sql == "commit";
  if (is_commit || statement.sql == "rollback") {
    failure = is_commit ? SqlFailure::kCommit : SqlFailure::kRollback;
  }
  stats_->queries.CountFailure(KindOfSql(statement.sql).operation, failure);
}

void Connection::Take(const Statement& statement, absl::StatusOr<Result> result,
                      RunOutcome& outcome) {
  if (!result.ok()) {
    outcome.status = std::move(result).status();
    NoteFailure(statement, absl::IsDeadlineExceeded(outcome.status) ? SqlFailure::kTimeout
                                                                    : SqlFailure::kConnection);
  } else if (!result->ok()) {
    outcome.status = Fail(*result, outcome);
    NoteFailure(statement, FailureOf(result->sqlstate()));
  } else {
    outcome.results.push_back(*std::move(result));
  }
}

RunOutcome Connection::Run(const std::vector<Step>& steps, Deadline deadline) {
  RunOutcome outcome;
  if (closed_ || PQenterPipelineMode(raw_) != 1) {
    outcome.status = Lost("not usable");
    return outcome;
  }
  warnings_.clear();
  bool sent = true;
  for (const Step& step : steps) {
    sent = sent && Send(step);
  }
  if (!sent || PQpipelineSync(raw_) != 1) {
    outcome.status = Lost("sending");
    return outcome;
  }
  Duration before = SystemClock().SinceBoot();
  for (std::size_t i = 0; i < steps.size() && outcome.status.ok(); ++i) {
    absl::StatusOr<Result> result = NextOfStep(deadline);
    before = Note(steps[i].statement, before);
    Take(steps[i].statement, std::move(result), outcome);
  }
  if (!closed_) {
    const absl::Status finished = FinishPipeline(deadline);
    if (outcome.status.ok()) {
      outcome.status = finished;
    }
  }
  return outcome;
}

absl::Status Connection::Prepare(const std::vector<const Statement*>& statements,
                                 Deadline deadline) {
  std::vector<const Statement*> missing;
  std::ranges::copy_if(statements, std::back_inserter(missing), [this](const Statement* statement) {
    return !pooled_ && !prepared_.contains(statement->name);
  });
  if (missing.empty()) {
    return absl::OkStatus();
  }
  if (closed_ || PQenterPipelineMode(raw_) != 1) {
    return Lost("not usable");
  }
  for (const Statement* statement : missing) {
    if (PQsendPrepare(raw_, statement->name.c_str(), statement->sql.c_str(), 0, nullptr) != 1) {
      return Lost("sending");
    }
  }
  if (PQpipelineSync(raw_) != 1) {
    return Lost("sending");
  }
  for (const Statement* statement : missing) {
    ASSIGN_OR_RETURN(const Result result, NextOfStep(deadline));
    if (!result.ok()) {
      RunOutcome outcome;
      const absl::Status status = Fail(result, outcome);
      Close();
      return status;
    }
    prepared_.insert(statement->name);
  }
  return FinishPipeline(deadline);
}

absl::Status Connection::StartCopy(const std::string& sql, Deadline deadline) {
  if (closed_ || PQsendQuery(raw_, sql.c_str()) != 1) {
    return Lost("sending");
  }
  ASSIGN_OR_RETURN(const Result result, Next(deadline));
  if (result.status() != PGRES_COPY_OUT) {
    RunOutcome outcome;
    const absl::Status status = Fail(result, outcome);
    Close();
    return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string_view> Connection::NextCopyRow(Deadline deadline) {
  for (;;) {
    PQfreemem(std::exchange(copy_row_, nullptr));
    const int length = PQgetCopyData(raw_, &copy_row_, 1);
    if (length > 0) {
      return std::string_view(copy_row_, static_cast<std::size_t>(length));
    }
    if (length == -1) {
      RETURN_IF_ERROR(FinishCopy(deadline));
      return std::string_view();
    }
    if (length != 0) {
      return Lost("copying");
    }
    RETURN_IF_ERROR(Wait(POLLIN, deadline));
    if (PQconsumeInput(raw_) != 1) {
      return Lost("copying");
    }
  }
}

absl::Status Connection::FinishCopy(Deadline deadline) {
  ASSIGN_OR_RETURN(const Result result, NextOfStep(deadline));
  if (!result.ok()) {
    RunOutcome outcome;
    const absl::Status status = Fail(result, outcome);
    Close();
    return status;
  }
  return absl::OkStatus();
}

absl::Status Connection::WithPqxx(const std::function<absl::Status(pqxx::nontransaction&)>& body) {
  if (closed_) {
    return Lost("not usable");
  }
  try {
    pqxx::nontransaction work(*pqxx_);
    const absl::Status status = body(work);
    if (status.ok()) {
      return status;
    }
    work.abort();
    Close();  // A transaction that it left open ends with the session.
    return status;
  } catch (const pqxx::sql_error& error) {
    Close();
    stats_->CountError(KindOf(error.sqlstate()));
    return ErrorFor(error.sqlstate(), "the database refused", error.what());
  } catch (const std::exception& error) {
    Close();
    stats_->CountError(DbError::kLost);
    return ErrorFor("", "the database connection broke", error.what());
  }
}

}  // namespace engine::postgres
