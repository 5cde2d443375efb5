#include "bench/floors/postgres.h"

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include <libpq-fe.h>

#include "engine/base/thread.h"

namespace bench {
namespace {

[[noreturn]] void Die(PGconn* connection) {
  std::fprintf(stderr, "floor: %s\n", PQerrorMessage(connection));
  std::exit(1);
}

class Connection {
 public:
  explicit Connection(const std::string& url) : connection_(PQconnectdb(url.c_str())) {
    if (PQstatus(connection_) != CONNECTION_OK) {
      Die(connection_);
    }
  }
  ~Connection() { PQfinish(connection_); }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void Run(const char* sql) {
    PGresult* const result = PQexec(connection_, sql);
    const ExecStatusType status = PQresultStatus(result);
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) {
      Die(connection_);
    }
    PQclear(result);
  }

  void Prepare(const char* name, const char* sql) {
    PGresult* const result = PQprepare(connection_, name, sql, 0, nullptr);
    if (PQresultStatus(result) != PGRES_COMMAND_OK) {
      Die(connection_);
    }
    PQclear(result);
  }

  // Sends prepared statements without parameters as one pipeline and reads all their answers.
  void RunPipeline(const std::vector<const char*>& names) {
    if (PQenterPipelineMode(connection_) != 1) {
      Die(connection_);
    }
    for (const char* name : names) {
      PQsendQueryPrepared(connection_, name, 0, nullptr, nullptr, nullptr, 1);
    }
    PQpipelineSync(connection_);
    for (std::size_t answers = 0; answers < names.size() + 1;) {
      PGresult* const result = PQgetResult(connection_);
      if (result == nullptr) {
        continue;
      }
      const ExecStatusType status = PQresultStatus(result);
      if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK &&
          status != PGRES_PIPELINE_SYNC) {
        Die(connection_);
      }
      PQclear(result);
      ++answers;
    }
    PQexitPipelineMode(connection_);
  }

 private:
  PGconn* const connection_;
};

void RunClients(int clients, const std::function<void()>& client) {
  std::vector<engine::Thread> threads;
  threads.reserve(static_cast<std::size_t>(clients));
  for (int i = 0; i < clients; ++i) {
    threads.emplace_back("floor", client);
  }
}

}  // namespace

void OneTransactionARecord(const std::string& url, int clients, Laps& laps) {
  Connection(url).Run(
      "create table if not exists floor_journal (stream int, position bigint, record bytea,"
      " primary key (stream, position))");
  RunClients(clients, [&] {
    Connection connection(url);
    connection.Run("set enable_seqscan = off");
    connection.Prepare("b", "begin isolation level read committed");
    connection.Prepare("l", "select pg_advisory_xact_lock(4711, 0)");
    connection.Prepare("i",
                       "insert into floor_journal select 1, coalesce((select position from"
                       " floor_journal where stream = 1 order by position desc limit 1), 0) + 1,"
                       " decode(repeat('ab', 300), 'hex')");
    connection.Prepare("c", "commit");
    while (laps.Take()) {
      const engine::Duration began = Now();
      connection.RunPipeline({"b", "l", "i", "c"});
      laps.Done(began);
    }
  });
}

void DirectTail(const std::string& url, int clients, Laps& laps) {
  RunClients(clients, [&] {
    Connection connection(url);
    connection.Run("set enable_seqscan = off");
    connection.Prepare("t",
                       "select * from halo_journal where stream_id = 2 and position >"
                       " 1000000000 order by position limit 1000");
    while (laps.Take()) {
      const engine::Duration began = Now();
      connection.RunPipeline({"t"});
      laps.Done(began);
    }
  });
}

void CopyToNowhere(const std::string& url) {
  std::string command = "psql -X -q '" + url + "'";
  for (int stream = 1; stream <= 3; ++stream) {
    command += " -c 'copy (select * from halo_journal where stream_id = " + std::to_string(stream) +
               " order by position) to stdout (format binary)'";
  }
  if (std::system((command + " > /dev/null").c_str()) != 0) {
    std::fprintf(stderr, "floor: psql failed\n");
    std::exit(1);
  }
}

}  // namespace bench
