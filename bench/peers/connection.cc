#include "bench/peers/connection.h"

#include <cstdio>
#include <cstdlib>

#include <absl/strings/str_format.h>
#include <libpq-fe.h>

namespace bench {

int Answer::size() const {
  return PQntuples(result_.get());
}

std::string_view Answer::Text(int row, int column) const {
  return {PQgetvalue(result_.get(), row, column),
          static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}

void Answer::Clear::operator()(pg_result* result) const {
  PQclear(result);
}

void Connection::Finish::operator()(pg_conn* connection) const {
  PQfinish(connection);
}

Connection::Connection(const std::string& url) : connection_(PQconnectdb(url.c_str())) {
  if (PQstatus(connection_.get()) != CONNECTION_OK) {
    Die();
  }
}

void Connection::Die() const {
  std::fprintf(stderr, "relational peer: %s\n", PQerrorMessage(connection_.get()));
  std::exit(1);
}

void Connection::Run(const std::string& sql) {
  PGresult* const result = PQexec(connection_.get(), sql.c_str());
  const ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
    Die();
  }
  PQclear(result);
}

Answer Connection::Ask(const std::string& sql, const std::vector<std::string>& parameters) {
  auto known = prepared_.find(sql);
  if (known == prepared_.end()) {
    const std::string name = absl::StrFormat("s%d", prepared_.size());
    PGresult* const result = PQprepare(connection_.get(), name.c_str(), sql.c_str(), 0, nullptr);
    if (PQresultStatus(result) != PGRES_COMMAND_OK) {
      Die();
    }
    PQclear(result);
    known = prepared_.emplace(sql, name).first;
  }
  std::vector<const char*> values;
  values.reserve(parameters.size());
  for (const std::string& parameter : parameters) {
    values.push_back(parameter.c_str());
  }
  PGresult* const result =
      PQexecPrepared(connection_.get(), known->second.c_str(), static_cast<int>(values.size()),
                     values.data(), nullptr, nullptr, 0);
  const ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
    Die();
  }
  return Answer(result);
}

void Connection::BeginCopy(const std::string& table) {
  PGresult* const result = PQexec(connection_.get(), ("copy " + table + " from stdin").c_str());
  if (PQresultStatus(result) != PGRES_COPY_IN) {
    Die();
  }
  PQclear(result);
}

void Connection::SendLines(std::string_view lines) {
  if (PQputCopyData(connection_.get(), lines.data(), static_cast<int>(lines.size())) != 1) {
    Die();
  }
}

void Connection::EndCopy() {
  if (PQputCopyEnd(connection_.get(), nullptr) != 1) {
    Die();
  }
  while (PGresult* const result = PQgetResult(connection_.get())) {
    if (PQresultStatus(result) != PGRES_COMMAND_OK) {
      Die();
    }
    PQclear(result);
  }
}

}  // namespace bench
