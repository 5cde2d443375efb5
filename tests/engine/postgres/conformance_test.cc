// The journal's contract on Postgres: directly, through PgBouncer in transaction mode, as a role
// that may touch rows only, and in a database whose defaults are as bad as can be.

#include "tests/conformance/conformance.h"

#include <map>

#include "engine/postgres/migrate.h"
#include "engine/postgres/postgres.h"
#include "tests/conformance/compaction.h"
#include "tests/support/pgbouncer.h"
#include "tests/support/postgres.h"

namespace conformance {
namespace {

using engine::postgres::Options;
using support::SharedCluster;

template <class T>
T Must(absl::StatusOr<T> value) {
  if (!value.ok()) {
    ADD_FAILURE() << value.status();
    std::abort();
  }
  return *std::move(value);
}

void Must(const absl::Status& status) {
  if (!status.ok()) {
    ADD_FAILURE() << status;
    std::abort();
  }
}

Options OptionsFor(const std::string& url) {
  Options options;
  options.url = url;
  options.connect_attempts = 1;
  return options;
}

// One migrated database a way of running; emptied before each test, which is quicker than making
// one each.
struct Database {
  std::string admin_url;
  std::string url;
};

class PostgresStore final : public Store {
 public:
  explicit PostgresStore(const Database& database) : url_(database.url) {
    Must(
        support::Sql(database.admin_url,
                     "truncate halo_journal, halo_streams, halo_kv, halo_leases, halo_idempotency, "
                     "halo_epoch")
            .status());
    Reopen();
  }

  engine::Engine& engine() override { return *engine_; }
  engine::Engine* second() override {
    if (second_ == nullptr) {
      second_ = Must(engine::postgres::Open(Streams(), OptionsFor(url_)));
    }
    return second_.get();
  }
  bool Reopen() override {
    second_.reset();
    engine_.reset();
    engine_ = Must(engine::postgres::Open(Streams(), OptionsFor(url_)));
    return true;
  }

 private:
  const std::string url_;
  std::unique_ptr<engine::Engine> engine_;
  std::unique_ptr<engine::Engine> second_;
};

std::string NewMigrated(const std::string& grant_to) {
  const std::string url = Must(SharedCluster().CreateDatabase("conformance"));
  Must(SharedCluster().CreateRole("halo_app"));
  Must(engine::postgres::Migrate(OptionsFor(url), grant_to).status());
  return url;
}

Database Direct() {
  const std::string url = NewMigrated("");
  return {url, url};
}

Database RowsOnly() {
  const std::string url = NewMigrated("halo_app");
  Must(support::Sql(url, "revoke create, temporary on database " +
                             Must(support::SqlValue(url, "select current_database()")) +
                             " from public; revoke create on schema public from public")
           .status());
  return {url, support::WithRole(url, "halo_app")};
}

support::PgBouncer& Bouncer() {
  static const std::unique_ptr<support::PgBouncer> bouncer =
      Must(support::PgBouncer::Start(SharedCluster()));
  return *bouncer;
}

// The strictest way there is: a pooler and row rights only.
Database Pooled() {
  const Database rows_only = RowsOnly();
  return {rows_only.admin_url, Bouncer().Through(rows_only.url)};
}

void MakeHostile(const std::string& url) {
  const std::string database = Must(support::SqlValue(url, "select current_database()"));
  for (const char* setting :
       {"default_transaction_isolation = 'repeatable read'", "client_min_messages = error",
        "synchronous_commit = off", "search_path = nowhere", "timezone = 'Asia/Kathmandu'",
        "datestyle = 'SQL, DMY'", "bytea_output = escape", "enable_indexscan = off",
        "plan_cache_mode = force_custom_plan", "lock_timeout = '1ms'", "extra_float_digits = -15",
        "row_security = off", "standard_conforming_strings = off", "client_encoding = 'SQL_ASCII'",
        "default_transaction_deferrable = on", "default_transaction_read_only = on"}) {
    Must(support::Sql(url, "alter database " + database + " set " + setting).status());
  }
}

Database Hostile() {
  const Database rows_only = RowsOnly();
  MakeHostile(rows_only.admin_url);
  return {rows_only.admin_url +
              "&options=-csearch_path%3Dpublic%20-cdefault_transaction_read_only"
              "%3Doff",
          rows_only.url};
}

Database HostilePooled() {
  const Database hostile = Hostile();
  return {hostile.admin_url, Bouncer().Through(hostile.url)};
}

StoreFactory Way(const std::string& name, Database (*make)()) {
  return {name, [name, make] {
            static std::map<std::string, Database> made;
            if (!made.contains(name)) {
              made[name] = make();
            }
            return std::make_unique<PostgresStore>(made[name]);
          }};
}

const auto kWays =
    testing::Values(Way("Direct", Direct), Way("RowsOnly", RowsOnly), Way("Pooled", Pooled),
                    Way("Hostile", Hostile), Way("HostilePooled", HostilePooled));

INSTANTIATE_TEST_SUITE_P(Postgres, JournalConformance, kWays, StoreName);
INSTANTIATE_TEST_SUITE_P(Postgres, LeaseConformance, kWays, StoreName);
INSTANTIATE_TEST_SUITE_P(Postgres, KeyValueConformance, kWays, StoreName);
INSTANTIATE_TEST_SUITE_P(Postgres, CompactionConformance, kWays, StoreName);

}  // namespace
}  // namespace conformance
