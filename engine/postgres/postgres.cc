#include "engine/postgres/postgres.h"

#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/logging.h"
#include "engine/base/reason.h"
#include "engine/base/status_macros.h"
#include "engine/postgres/address.h"
#include "engine/postgres/append_probe.h"
#include "engine/postgres/journal.h"
#include "engine/postgres/key_value.h"
#include "engine/postgres/leases.h"
#include "engine/postgres/migration_file.h"
#include "engine/postgres/pool.h"
#include "engine/postgres/presence.h"
#include "engine/postgres/rows.h"
#include "engine/postgres/schema.h"
#include "engine/postgres/session.h"

namespace engine::postgres {
namespace {

class PostgresEngine final : public Engine {
 public:
  // Leases go by `direct`.
  PostgresEngine(Catalogue catalogue, const Options& options, Connector connector, Connector direct,
                 const std::string& schema)
      : connector_(std::move(connector)),
        direct_(std::move(direct)),
        statements_(schema),
        pool_(options,
              [this](Lane lane, Deadline deadline) {
                const Connector& way = lane == Lane::kLease ? direct_ : connector_;
                return way.Connect(statements_, deadline);
              }),
        journal_(std::move(catalogue), statements_, pool_, lives_, options.request_timeout),
        key_value_(statements_, pool_, options.request_timeout),
        leases_(statements_, pool_),
        presence_(statements_, pool_, lives_) {}

  Journal& journal() override { return journal_; }
  KeyValue& key_value() override { return key_value_; }
  Leases& leases() override { return leases_; }
  Presence& presence() override { return presence_; }

  // A schema or a server that does not fit any more is told apart from one that is away: it needs
  // an administrator.
  absl::Status CheckReady(Deadline deadline) override {
    absl::Status status = Ping(deadline);
    if (status.ok() || absl::IsFailedPrecondition(status)) {
      return status;
    }
    return WithReasonOf(status, absl::UnavailableError(
                                    std::string(status.message().data(), status.message().size())));
  }

  std::string backend() const override { return "postgres"; }

 private:
  absl::Status Ping(Deadline deadline) {
    ASSIGN_OR_RETURN(const Pool::Lease lease, pool_.Acquire(Lane::kReady, deadline));
    ASSIGN_OR_RETURN(const Result result,
                     AskOn(*lease, statements_, {statements_.ping, {}}, deadline));
    if (const absl::Status status = OriginOf(result, 0).status(); !status.ok()) {
      lease->Close();
      return status;
    }
    return append_probe_.Check(*lease, statements_, deadline);
  }

  const Connector connector_;
  const Connector direct_;
  const Statements statements_;
  Pool pool_;
  Lives lives_;
  PostgresJournal journal_;
  PostgresKeyValue key_value_;
  PostgresLeases leases_;
  PostgresPresence presence_;
  AppendProbe append_probe_;
};

absl::Status CheckOptions(const Options& options) {
  if (options.max_conns < 5) {
    return absl::InvalidArgumentError("at least 5 database connections are needed");
  }
  if (options.connect_attempts < 1) {
    return absl::InvalidArgumentError("at least 1 attempt to connect is needed");
  }
  return absl::OkStatus();
}

// Finds our tables and makes sure that they and the catalogue are as we need them.
absl::StatusOr<std::string> PrepareSchema(Connection& connection, const Catalogue& catalogue) {
  std::string schema;
  const absl::Status status = connection.WithPqxx([&](pqxx::nontransaction& work) -> absl::Status {
    if (work.exec("select pg_catalog.pg_is_in_recovery()")[0][0].as<bool>()) {
      return absl::UnavailableError("the database is a standby");
    }
    work.exec("begin isolation level read committed read write");
    ASSIGN_OR_RETURN(const std::optional<std::string> found, FindSchema(work));
    if (!found.has_value()) {
      return absl::FailedPreconditionError(
          "the database has none of our tables; run `halo-server migrate`");
    }
    schema = *found;
    RETURN_IF_ERROR(CheckApplied(EmbeddedMigrations(), ReadApplied(work, schema)));
    RETURN_IF_ERROR(InsertCatalogue(work, schema, catalogue));
    work.exec("commit");
    return absl::OkStatus();
  });
  RETURN_IF_ERROR(status);
  return schema;
}

// What is the same on two ways to one database, and on no two databases: the cluster, and the
// journal's table in it.
absl::StatusOr<std::string> IdentityOf(Connection& connection, const std::string& schema) {
  const Statements statements(schema);
  std::string identity;
  RETURN_IF_ERROR(connection.WithPqxx([&](pqxx::nontransaction& work) -> absl::Status {
    const pqxx::result row =
        Exec(work,
             "select (select system_identifier from pg_catalog.pg_control_system())::text || ' '"
             " || (select oid from pg_catalog.pg_database where datname ="
             " pg_catalog.current_database())::text || ' '"
             " || coalesce(pg_catalog.to_regclass($1)::pg_catalog.oid::text, '')",
             statements.journal);
    identity = row[0][0].as<std::string>();
    return absl::OkStatus();
  }));
  return identity;
}

absl::Status CheckDirect(const Connector& direct, const Options& options, Connection& connection,
                         const std::string& schema) {
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> other, direct.ConnectPatiently(options));
  ASSIGN_OR_RETURN(const std::string here, IdentityOf(connection, schema));
  ASSIGN_OR_RETURN(const std::string there, IdentityOf(*other, schema));
  if (!GUARD("postgres.direct", here == there)) {
    return absl::FailedPreconditionError(
        "the direct database URL leads to another database than the database URL");
  }
  return absl::OkStatus();
}

}  // namespace

std::uint64_t Stats::errors() const {
  std::uint64_t sum = 0;
  for (const std::atomic<std::uint64_t>& count : errors_) {
    sum += count;
  }
  return sum;
}

void Stats::SetFacts(Facts facts) {
  MutexLock lock(mutex_);
  facts_ = std::move(facts);
}

Stats::Facts Stats::facts() const {
  MutexLock lock(mutex_);
  return facts_;
}

absl::StatusOr<std::unique_ptr<Engine>> Open(Catalogue catalogue, const Options& given) {
  RETURN_IF_ERROR(CheckOptions(given));
  Options options = given;
  if (options.stats == nullptr) {
    options.stats = std::make_shared<Stats>();
  }
  options.stats->log_statements = options.log_statements;
  ASSIGN_OR_RETURN(std::vector<ServerParams> servers,
                   ParseAddress(options.url, options.insecure_tls, options.application_name));
  const bool has_direct = !options.direct_url.empty();
  ASSIGN_OR_RETURN(std::vector<ServerParams> direct_servers,
                   ParseAddress(has_direct ? options.direct_url : options.url, options.insecure_tls,
                                options.application_name));
  Connector connector(std::move(servers), options.pooler, options);
  Connector direct(std::move(direct_servers), has_direct ? Pooler::kNone : options.pooler, options);
  ASSIGN_OR_RETURN(const std::unique_ptr<Connection> connection,
                   connector.ConnectPatiently(options));
  ASSIGN_OR_RETURN(const std::string schema, PrepareSchema(*connection, catalogue));
  if (has_direct) {
    RETURN_IF_ERROR(CheckDirect(direct, options, *connection, schema));
  }
  Log(Severity::kInfo, "database opened",
      {{"schema", schema}, {"pooler", connection->pooled()}, {"direct", has_direct}});
  return std::make_unique<PostgresEngine>(std::move(catalogue), options, std::move(connector),
                                          std::move(direct), schema);
}

}  // namespace engine::postgres
