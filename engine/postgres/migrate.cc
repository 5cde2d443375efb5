#include "engine/postgres/migrate.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/logging.h"
#include "engine/base/random.h"
#include "engine/base/status_macros.h"
#include "engine/postgres/address.h"
#include "engine/postgres/schema.h"
#include "engine/postgres/session.h"

namespace engine::postgres {
namespace {

// The journal's table may not exist yet, so its oid cannot be the key: "halo" and "migr" in
// ASCII, as two 32-bit numbers.
constexpr char kLockSql[] = "select pg_catalog.pg_advisory_xact_lock(1751215215, 1835624306)";
constexpr char kWaitForRunnersSql[] =
    "select pg_catalog.set_config('lock_timeout', $1, true),"
    " pg_catalog.set_config('statement_timeout', '0', true),"
    " pg_catalog.set_config('idle_in_transaction_session_timeout', '0', true),"
    " pg_catalog.set_config('synchronous_commit', 'on', true),"
    " pg_catalog.set_config('client_min_messages', 'warning', true)";
constexpr char kWaitForTablesSql[] =
    "select pg_catalog.set_config('lock_timeout', $1, true),"
    " pg_catalog.set_config('statement_timeout', $2, true)";

// Between two attempts: a random part of it at least, so that several runners spread.
constexpr Duration kPause = std::chrono::seconds(1);

constexpr char kStatementTimeout[] = "57014";

std::string Milliseconds(Duration time) {
  return std::to_string(std::max<std::int64_t>(
      1, std::chrono::duration_cast<std::chrono::milliseconds>(time).count()));
}

absl::StatusOr<std::string> SchemaToUse(pqxx::transaction_base& work) {
  ASSIGN_OR_RETURN(const std::optional<std::string> found, FindSchema(work));
  if (found.has_value()) {
    return *found;
  }
  const pqxx::result current = work.exec("select pg_catalog.current_schema()");
  if (current[0][0].is_null()) {
    return absl::FailedPreconditionError("the search path names no schema to make our tables in");
  }
  return current[0][0].as<std::string>();
}

bool HasHistory(pqxx::transaction_base& work, const std::string& schema) {
  const std::string table = work.quote_name(schema) + ".halo_schema_migrations";
  return !Exec(work, "select pg_catalog.to_regclass($1)", table)[0][0].is_null();
}

// To try again what takes too long would only keep everybody out again.
absl::Status Apply(pqxx::transaction_base& work, const Migration& migration) {
  try {
    work.exec(migration.sql);
    return absl::OkStatus();
  } catch (const pqxx::sql_error& error) {
    if (error.sqlstate() != kStatementTimeout) {
      throw;
    }
    return absl::FailedPreconditionError(
        absl::StrFormat("%s: a statement took longer than it may", migration.name));
  }
}

absl::Status ApplyPending(pqxx::transaction_base& work, const std::string& schema,
                          const std::vector<Migration>& migrations,
                          std::vector<std::string>& names) {
  std::vector<AppliedMigration> applied;
  if (HasHistory(work, schema)) {
    applied = ReadApplied(work, schema);
  }
  for (const Migration& migration : migrations) {
    const auto found = std::ranges::find(applied, migration.version, &AppliedMigration::version);
    if (found != applied.end()) {
      continue;
    }
    RETURN_IF_ERROR(Apply(work, migration));
    Exec(work,
         "insert into " + work.quote_name(schema) +
             ".halo_schema_migrations (version, name, min_binary_schema) values ($1, $2, $3)",
         migration.version, migration.name, migration.min_binary_schema);
    names.push_back(migration.name);
  }
  return CheckApplied(migrations, ReadApplied(work, schema));
}

// What a serving process does to each table. Only compaction removes rows of the journal and
// raises floors.
constexpr std::pair<const char*, const char*> kRights[] = {
    {"select", "halo_schema_migrations"},
    {"select, insert, update", "halo_streams"},
    {"select, insert, delete", "halo_journal"},
    {"select, insert, update, delete", "halo_kv"},
    {"select, insert, update", "halo_leases"},
    {"select, insert, delete", "halo_idempotency"},
    {"select, insert", "halo_epoch"},
    {"select, insert, update, delete", "halo_heartbeat"},
};

absl::Status Grant(pqxx::transaction_base& work, const std::string& schema,
                   const std::string& role) {
  if (Exec(work, "select 1 from pg_catalog.pg_roles where rolname = $1", role).empty()) {
    return absl::InvalidArgumentError(absl::StrFormat("role %s does not exist", role));
  }
  const std::string in = work.quote_name(schema);
  const std::string to = " to " + work.quote_name(role);
  work.exec("grant usage on schema " + in + to);
  for (const auto& [rights, table] : kRights) {
    work.exec(absl::StrFormat("grant %s on %s.%s%s", rights, in, table, to));
  }
  return absl::OkStatus();
}

struct Run {
  const std::vector<Migration>& migrations;
  const std::string& grant_to;
  const MigrationLimits& limits;
  const Deadline deadline;
};

absl::Status RunAll(pqxx::transaction_base& work, const Run& run, std::vector<std::string>& names) {
  work.exec("begin isolation level read committed read write");
  Exec(work, kWaitForRunnersSql, Milliseconds(run.deadline.Remaining()));
  work.exec(kLockSql);
  const Duration lock =
      GUARD("postgres.ddl-makes-way", false) ? run.limits.patience : run.limits.lock;
  Exec(work, kWaitForTablesSql, Milliseconds(lock), Milliseconds(run.limits.statement));
  ASSIGN_OR_RETURN(const std::string schema, SchemaToUse(work));
  Exec(work, "select pg_catalog.set_config('search_path', $1, true)",
       work.quote_name(schema) + ", pg_temp");
  RETURN_IF_ERROR(ApplyPending(work, schema, run.migrations, names));
  if (!run.grant_to.empty()) {
    RETURN_IF_ERROR(Grant(work, schema, run.grant_to));
  }
  work.exec("commit");
  return absl::OkStatus();
}

// A COMMIT whose answer was lost is tried again too: what was applied is not pending then.
bool IsWorthAnotherTry(const absl::Status& status) {
  return absl::IsDeadlineExceeded(status) || absl::IsAborted(status) || absl::IsUnavailable(status);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> MigrateTo(const std::vector<Migration>& migrations,
                                                   const Options& given,
                                                   const std::string& grant_to,
                                                   const MigrationLimits& limits) {
  Options options = given;
  if (options.stats == nullptr) {
    options.stats = std::make_shared<Stats>();
  }
  ASSIGN_OR_RETURN(std::vector<ServerParams> servers,
                   ParseAddress(options.url, options.insecure_tls, options.application_name));
  const Connector connector(std::move(servers), options.pooler, options);
  const Run run{migrations, grant_to, limits, Deadline::After(limits.patience)};
  for (;;) {
    ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection,
                     connector.ConnectPatiently(options));
    std::vector<std::string> names;
    absl::Status status =
        connection->WithPqxx([&](pqxx::nontransaction& work) { return RunAll(work, run, names); });
    if (status.ok()) {
      return names;
    }
    if (!IsWorthAnotherTry(status) || run.deadline.HasPassed()) {
      return status;
    }
    Log(Severity::kInfo, "migrations make way, to try again soon",
        {{"error", std::string(status.message().data(), status.message().size())}});
    const auto part = SystemRandom().Below(static_cast<std::uint64_t>(kPause.count()) / 2);
    Pause(kPause / 2 + Duration(static_cast<std::int64_t>(part)));
  }
}

absl::StatusOr<std::vector<std::string>> Migrate(const Options& options,
                                                 const std::string& grant_to) {
  return MigrateTo(EmbeddedMigrations(), options, grant_to,
                   {.patience = options.migration_patience});
}

}  // namespace engine::postgres
