#include "engine/postgres/server_facts.h"

#include <cstdlib>
#include <string_view>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/logging.h"
#include "engine/base/reason.h"
#include "engine/base/status_macros.h"

namespace engine::postgres {
namespace {

constexpr int kOldestServer = 140000;
// Less may end the very statement that sets another timeout.
constexpr int kLeastTimeoutMs = 1000;

const Statement kFactsSql{
    "",
    "select pg_catalog.pg_backend_pid(), pg_catalog.current_setting('server_version_num')::int4,"
    " pg_catalog.current_setting('fsync'), pg_catalog.current_setting('full_page_writes'),"
    " pg_catalog.current_setting('data_checksums'),"
    " pg_catalog.current_setting('synchronous_commit'),"
    " pg_catalog.current_setting('synchronous_standby_names'),"
    " pg_catalog.current_setting('default_transaction_isolation'),"
    " pg_catalog.current_setting('default_transaction_read_only'),"
    " pg_catalog.current_setting('session_replication_role'),"
    " (extract(epoch from pg_catalog.current_setting('statement_timeout')::pg_catalog.interval)"
    " * 1000)::int4"};

bool HasNames(std::string_view synchronous_standby_names) {
  return synchronous_standby_names.find_first_not_of(" \t") != std::string_view::npos;
}

// Ours are never weaker than `on`; see Statements.
std::string OurCommit(const ServerFacts& facts) {
  return facts.synchronous_commit == "remote_apply" ? "remote_apply" : "on";
}

}  // namespace

bool ServerFacts::has_synchronous_standby() const {
  return HasNames(synchronous_standby_names);
}

absl::StatusOr<ServerFacts> ReadFacts(Connection& connection, Deadline deadline) {
  const RunOutcome outcome = connection.Run({{kFactsSql, {}}}, deadline);
  RETURN_IF_ERROR(outcome.status);
  const Result& row = outcome.results[0];
  const auto text = [&row](int column) { return std::string(row.Bytes(0, column)); };
  ServerFacts facts;
  facts.backend_pid = row.Int32(0, 0);
  facts.version = row.Int32(0, 1);
  facts.fsync = text(2);
  facts.full_page_writes = text(3);
  facts.data_checksums = text(4);
  facts.synchronous_commit = text(5);
  facts.synchronous_standby_names = text(6);
  facts.default_transaction_isolation = text(7);
  facts.default_transaction_read_only = text(8);
  facts.session_replication_role = text(9);
  facts.statement_timeout_ms = row.Int32(0, 10);
  return facts;
}

absl::Status CheckFacts(const ServerFacts& facts, bool require_synchronous) {
  if (!GUARD("postgres.version", facts.version >= kOldestServer)) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "the database server is of version %d; Postgres 14 is the oldest", facts.version / 10000));
  }
  if (facts.statement_timeout_ms != 0 && facts.statement_timeout_ms < kLeastTimeoutMs) {
    return absl::FailedPreconditionError(
        absl::StrFormat("the role's statement_timeout is %d ms: under a second, it can end the "
                        "statement that would set another",
                        facts.statement_timeout_ms));
  }
  if (!require_synchronous) {
    return absl::OkStatus();
  }
  if (!GUARD("postgres.require-synchronous", facts.has_synchronous_standby())) {
    return WithReason(
        Reason::kNotSynchronous,
        absl::FailedPreconditionError(
            "--require-synchronous: the server's synchronous_standby_names is empty, so a failover "
            "can lose acknowledged changes"));
  }
  if (facts.fsync != "on" || facts.full_page_writes != "on") {
    return absl::FailedPreconditionError(
        "--require-synchronous: fsync or full_page_writes is off, so a crash of the machine can "
        "lose acknowledged changes");
  }
  return absl::OkStatus();
}

absl::Status CheckStillSynchronous(const Connection& connection, const Result& settings) {
  if (!connection.must_be_synchronous() ||
      GUARD("postgres.still-synchronous", HasNames(settings.Bytes(0, 0)))) {
    return absl::OkStatus();
  }
  return WithReason(Reason::kNotSynchronous,
                    absl::UnavailableError("--require-synchronous: synchronous_standby_names was "
                                           "emptied, so a failover can lose what is committed"));
}

ShownFacts Show(const ServerFacts& facts) {
  return {
      {"server_version", absl::StrFormat("%d.%d", facts.version / 10000, facts.version % 10000)},
      {"replication", facts.has_synchronous_standby() ? "synchronous" : "none or asynchronous"},
      {"synchronous_standby_names", facts.synchronous_standby_names},
      {"synchronous_commit", OurCommit(facts)},
      {"fsync", facts.fsync},
      {"full_page_writes", facts.full_page_writes},
      {"data_checksums", facts.data_checksums},
      {"default_transaction_isolation", facts.default_transaction_isolation},
      {"default_transaction_read_only", facts.default_transaction_read_only},
  };
}

void LogFacts(const ServerFacts& facts) {
  Log(Severity::kInfo, "database server",
      {{"server_version", facts.version},
       {"synchronous", facts.has_synchronous_standby()},
       {"synchronous_standby_names", facts.synchronous_standby_names},
       {"synchronous_commit", OurCommit(facts)},
       {"fsync", facts.fsync},
       {"full_page_writes", facts.full_page_writes},
       {"data_checksums", facts.data_checksums},
       {"default_transaction_isolation", facts.default_transaction_isolation},
       {"default_transaction_read_only", facts.default_transaction_read_only}});
  if (facts.fsync != "on" || facts.full_page_writes != "on") {
    Log(Severity::kWarning,
        "fsync or full_page_writes is off: a crash of the database's machine loses or damages "
        "data");
  }
  if (facts.session_replication_role != "origin") {
    Log(Severity::kWarning,
        "session_replication_role is not origin: constraints and triggers do not fire");
  }
}

}  // namespace engine::postgres
