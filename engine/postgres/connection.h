// Connection: one session, used by libpq where it is hot and by libpqxx elsewhere, with deadlines.
//
// Statements go out together, in libpq's pipeline mode, with one synchronisation at the end: one
// round trip for as many statements as wanted. An error in one of them makes the server skip the
// rest.
//
// One thread at a time. Every call blocks at most until its deadline; then the connection is
// closed, never a statement cancelled: a cancelled COMMIT can have happened.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/base/deadline.h"
#include "engine/postgres/address.h"
#include "engine/postgres/params.h"
#include "engine/postgres/postgres.h"
#include "engine/postgres/pqxx_shim.h"
#include "engine/postgres/result.h"

namespace engine::postgres {

// Parameters are $1, $2, ...; prepared under its name where that is possible. Without a name it
// never is.
struct Statement {
  std::string name;
  std::string sql;
};

struct Step {
  const Statement& statement;
  Params params;
};

// How a pipeline went.
struct RunOutcome {
  absl::Status status;          // Of the first step that failed.
  std::vector<Result> results;  // Of the steps that succeeded, in order.
  // An error of the server ended the pipeline and the session is sound: what came after the
  // failed step did not and will not run.
  bool failed_cleanly = false;
};

class Connection {
 public:
  // Fails with kUnavailable, kDeadlineExceeded. The name of a host is looked up without a
  // deadline: libpq offers none.
  static absl::StatusOr<std::unique_ptr<Connection>> Connect(const ServerParams& server,
                                                             Deadline deadline,
                                                             std::shared_ptr<Stats> stats);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  RunOutcome Run(const std::vector<Step>& steps, Deadline deadline);

  // One statement without waiting: Start sends it; then Poll, each time that `descriptor` can be
  // read, until it says how it went. No other call in between but Close. What cannot be sent at
  // once is an error, and the connection is closed.
  absl::Status Start(const Step& step);
  std::optional<RunOutcome> Poll();
  int descriptor() const { return PQsocket(raw_); }

  // Prepares those of the statements that are not prepared yet; from then on Run uses their names.
  // Does nothing behind a pooler. The server looks at the tables then, as if they were run: it
  // waits for whoever keeps one of them to itself.
  absl::Status Prepare(const std::vector<const Statement*>& statements, Deadline deadline);

  // Starts `COPY ... TO STDOUT`; then NextCopyRow until it returns an empty view. A row's bytes
  // are valid until the next call.
  absl::Status StartCopy(const std::string& sql, Deadline deadline);
  absl::StatusOr<std::string_view> NextCopyRow(Deadline deadline);

  // Runs `body` with libpqxx, without a deadline, and turns what it throws into a status.
  absl::Status WithPqxx(const std::function<absl::Status(pqxx::nontransaction&)>& body);

  // A lock that is not granted in time is no error in itself: a campaign for a lease that somebody
  // writes under tries again. Whoever fails a request because of it says so.
  void CountTimeout() { stats_->CountError(DbError::kTimeout); }

  // Closes it now; every later call fails.
  void Close();
  bool broken() const { return closed_; }
  // Looks, without waiting, whether the server has closed it while nobody asked; then it is closed
  // here too.
  bool CheckOpen();

  // The process that the server told us at connect; a pooler makes it up.
  int backend_pid() const { return PQbackendPID(raw_); }
  bool pooled() const { return pooled_; }
  void set_pooled(bool pooled) { pooled_ = pooled; }
  // Whether its commits are of use only while they wait for a standby.
  bool must_be_synchronous() const { return must_be_synchronous_; }
  void set_must_be_synchronous(bool must) { must_be_synchronous_ = must; }
  Duration connected_at() const { return connected_at_; }

 private:
  Connection(PGconn* raw, std::shared_ptr<Stats> stats);
  static void OnNotice(void* self, const PGresult* notice);

  bool Send(const Step& step);
  void Take(const Statement& statement, absl::StatusOr<Result> result, RunOutcome& outcome);
  RunOutcome EndStart(absl::StatusOr<Result> result);
  // The next result; an empty one between statements.
  absl::StatusOr<Result> Next(Deadline deadline);
  absl::StatusOr<Result> NextOfStep(Deadline deadline);
  absl::Status Wait(short events, Deadline deadline);
  absl::Status Lost(std::string_view what);
  absl::Status Fail(const Result& result, RunOutcome& outcome);
  // Tells the metrics, and the log where it was slow, of a step that took from `begin` to now;
  // returns now.
  Duration Note(const Statement& statement, Duration begin) const;
  void NoteFailure(const Statement& statement, SqlFailure failure) const;
  absl::Status FinishPipeline(Deadline deadline);
  absl::Status FinishCopy(Deadline deadline);

  std::unique_ptr<PqxxConnection> pqxx_;
  PGconn* raw_;
  const std::shared_ptr<Stats> stats_;
  const Duration connected_at_;
  bool closed_ = false;
  bool pooled_ = true;
  bool must_be_synchronous_ = false;
  std::set<std::string, std::less<>> prepared_;
  bool ended_ = false;  // The server said goodbye while nobody asked.
  char* copy_row_ = nullptr;
  // Of Start.
  const Statement* started_ = nullptr;
  Duration started_at_{};
  Result started_result_;
  std::vector<std::string> warnings_;
};

}  // namespace engine::postgres
