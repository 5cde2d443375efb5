#include "tests/support/session.h"

#include <absl/strings/str_format.h>
#include <libpq-fe.h>
#include <sys/socket.h>

#include "tests/support/poll.h"

namespace support {
namespace {

constexpr auto kPatience = std::chrono::seconds(20);

std::string FieldOf(const PGresult* result, int field) {
  const char* const value = PQresultErrorField(result, field);
  return value == nullptr ? "" : value;
}

void KeepWarning(void* warnings, const PGresult* notice) {
  static_cast<std::vector<std::string>*>(warnings)->push_back(FieldOf(notice, PG_DIAG_SQLSTATE));
}

Answer AnswerOf(PGresult* result) {
  Answer answer;
  const ExecStatusType status = PQresultStatus(result);
  answer.ok = status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
  answer.tag = PQcmdStatus(result);
  answer.sqlstate = FieldOf(result, PG_DIAG_SQLSTATE);
  answer.message = PQresultErrorMessage(result);
  answer.rows.resize(static_cast<std::size_t>(PQntuples(result)));
  for (std::size_t row = 0; row < answer.rows.size(); ++row) {
    for (int column = 0; column < PQnfields(result); ++column) {
      answer.rows[row].emplace_back(PQgetvalue(result, static_cast<int>(row), column));
    }
  }
  return answer;
}

}  // namespace

std::string Answer::Value() const {
  if (!ok) {
    return message;
  }
  return rows.size() == 1 && rows[0].size() == 1
             ? rows[0][0]
             : absl::StrFormat("%d rows, tag %s", rows.size(), tag);
}

Session::Session(const std::string& url, const std::string& observer_url)
    : observer_url_(observer_url.empty() ? url : observer_url),
      connection_(PQconnectdb(url.c_str()), PQfinish) {
  backend_pid_ = PQbackendPID(connection_.get());
  PQsetNoticeReceiver(connection_.get(), KeepWarning, &warnings_);
}

Session::~Session() = default;

bool Session::connected() const {
  return PQstatus(connection_.get()) == CONNECTION_OK;
}

Answer Session::Run(const std::string& statements) {
  Send(statements);
  return Finish();
}

void Session::Send(const std::string& statements) {
  warnings_.clear();
  // A failure shows in Finish.
  PQsendQuery(connection_.get(), statements.c_str());
}

Answer Session::Finish() {
  Answer answer;
  answer.message = PQerrorMessage(connection_.get());
  while (PGresult* const result = PQgetResult(connection_.get())) {
    answer = AnswerOf(result);
    PQclear(result);
  }
  answer.warnings = warnings_;
  return answer;
}

bool Session::WaitForValue(const std::string& query) const {
  Session observer(observer_url_);
  return WaitFor([&] { return observer.Run(query).Value() == "t"; },
                 engine::Deadline::After(kPatience));
}

bool Session::WaitUntilBlocked() const {
  return WaitForValue(absl::StrFormat(
      "select wait_event_type = 'Lock' from pg_stat_activity where pid = %d", backend_pid_));
}

bool Session::WaitUntilWaitingFor(const std::string& event) const {
  return WaitForValue(absl::StrFormat(
      "select wait_event = '%s' from pg_stat_activity where pid = %d", event, backend_pid_));
}

bool Session::WaitUntilBlockedBy(const Session& other) const {
  return WaitForValue(
      absl::StrFormat("select %d = any (pg_blocking_pids(%d))", other.backend_pid_, backend_pid_));
}

bool Session::WaitUntilGone() const {
  return WaitForValue(absl::StrFormat(
      "select not exists (select from pg_stat_activity where pid = %d)", backend_pid_));
}

bool Session::BackendIsThere() const {
  Session observer(observer_url_);
  return observer
             .Run(absl::StrFormat("select exists (select from pg_stat_activity where pid = %d)",
                                  backend_pid_))
             .Value() == "t";
}

void Session::Vanish() {
  // Nothing of libpq's goodbye gets out after this.
  shutdown(PQsocket(connection_.get()), SHUT_RDWR);
  connection_.reset();
}

}  // namespace support
