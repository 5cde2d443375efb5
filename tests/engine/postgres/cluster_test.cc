// The throwaway servers that the other tests stand on.

#include <filesystem>

#include <signal.h>

#include "tests/support/pgbouncer.h"
#include "tests/support/poll.h"
#include "tests/support/postgres.h"
#include "tests/support/status_matchers.h"

namespace engine::postgres {
namespace {

using support::PgBouncer;
using support::PostgresCluster;
using support::SharedCluster;
using support::Sql;
using support::SqlValue;
using support::StatusIs;
using support::StopMode;

std::string ValueOr(const std::string& url, const std::string& statement) {
  auto value = SqlValue(url, statement);
  return value.ok() ? *value : value.status().ToString();
}

TEST(PostgresClusterTest, DatabasesAreSeparateAndEmpty) {
  ASSERT_OK_AND_ASSIGN(const std::string first, SharedCluster().CreateDatabase("same"));
  ASSERT_OK_AND_ASSIGN(const std::string second, SharedCluster().CreateDatabase("same"));
  EXPECT_NE(first, second);
  ASSERT_OK(Sql(first, "create table t (a int)"));
  EXPECT_EQ(ValueOr(first, "select count(*) from pg_class where relname = 't'"), "1");
  EXPECT_EQ(ValueOr(second, "select count(*) from pg_class where relname = 't'"), "0");
}

TEST(PostgresClusterTest, ServerKeepsPostgresOwnDefaults) {
  const std::string url = SharedCluster().Url("postgres");
  EXPECT_EQ(ValueOr(url, "show fsync"), "on");
  EXPECT_EQ(ValueOr(url, "show synchronous_commit"), "on");
  EXPECT_EQ(ValueOr(url, "show listen_addresses"), "");
}

TEST(PostgresClusterTest, RoleWithRowsOnlyCannotCreateAnything) {
  ASSERT_OK_AND_ASSIGN(const std::string url, SharedCluster().CreateDatabase("rows_only"));
  ASSERT_OK(Sql(url, "create table t (a int)"));
  ASSERT_OK(SharedCluster().CreateRole("halo_app"));
  ASSERT_OK(support::GrantRowsOnly(url, "halo_app"));
  const std::string app = support::WithRole(url, "halo_app");
  EXPECT_EQ(ValueOr(app, "select current_user"), "halo_app");
  EXPECT_OK(Sql(app, "insert into t values (1); update t set a = 2; delete from t"));
  EXPECT_THAT(Sql(app, "create table u (a int)"),
              StatusIs(absl::StatusCode::kInternal, testing::HasSubstr("permission denied")));
  EXPECT_THAT(Sql(app, "create temporary table u (a int)"),
              StatusIs(absl::StatusCode::kInternal, testing::HasSubstr("permission denied")));
  EXPECT_THAT(Sql(app, "truncate t"),
              StatusIs(absl::StatusCode::kInternal, testing::HasSubstr("permission denied")));
}

TEST(PostgresClusterTest, SettingsAreGivenAndChanged) {
  ASSERT_OK_AND_ASSIGN(auto cluster,
                       PostgresCluster::Start({.settings = {{"max_connections", "17"}}}));
  EXPECT_EQ(ValueOr(cluster->Url("postgres"), "show max_connections"), "17");
  ASSERT_OK(cluster->Set("default_transaction_isolation", "repeatable read"));
  cluster->Reload();
  EXPECT_TRUE(support::WaitFor(
      [&] {
        return ValueOr(cluster->Url("postgres"), "show default_transaction_isolation") ==
               "repeatable read";
      },
      Deadline::After(std::chrono::seconds(20))));
}

TEST(PostgresClusterTest, CommittedRowsSurviveEveryEnd) {
  ASSERT_OK_AND_ASSIGN(auto cluster, PostgresCluster::Start());
  ASSERT_OK_AND_ASSIGN(const std::string url, cluster->CreateDatabase("kept"));
  ASSERT_OK(Sql(url, "create table t (a int)"));
  const auto insert_and_end = [&](const std::function<void()>& end) {
    ASSERT_OK(Sql(url, "insert into t values (1)"));
    const pid_t before = cluster->postmaster_pid();
    end();
    EXPECT_NE(kill(before, 0), 0);
    EXPECT_EQ(cluster->postmaster_pid(), 0);
    EXPECT_THAT(Sql(url, "select 1"), StatusIs(absl::StatusCode::kUnavailable));
    ASSERT_OK(cluster->StartAgain());
  };
  insert_and_end([&] { EXPECT_OK(cluster->Stop(StopMode::kFast)); });
  insert_and_end([&] { EXPECT_OK(cluster->Stop(StopMode::kSmart)); });
  insert_and_end([&] { EXPECT_OK(cluster->Stop(StopMode::kImmediate)); });
  insert_and_end([&] { cluster->Kill(); });
  EXPECT_EQ(ValueOr(url, "select count(*) from t"), "4");
}

TEST(PostgresClusterTest, NothingIsLeftBehind) {
  std::string directory;
  pid_t postmaster = 0;
  {
    ASSERT_OK_AND_ASSIGN(auto cluster, PostgresCluster::Start());
    directory = cluster->socket_directory();
    postmaster = cluster->postmaster_pid();
    ASSERT_TRUE(std::filesystem::exists(directory));
  }
  EXPECT_FALSE(std::filesystem::exists(directory));
  EXPECT_NE(kill(postmaster, 0), 0);
}

TEST(PgBouncerTest, SessionStateBelongsToWhoeverComesNext) {
  ASSERT_OK_AND_ASSIGN(auto bouncer, PgBouncer::Start(SharedCluster(), {.pool_size = 1}));
  ASSERT_OK_AND_ASSIGN(const std::string url, SharedCluster().CreateDatabase("pooled"));
  const std::string pooled = bouncer->Through(url);
  ASSERT_OK_AND_ASSIGN(const std::string first, SqlValue(pooled, "select pg_backend_pid()"));
  ASSERT_OK(Sql(pooled, "set lock_timeout = '4321ms'"));
  EXPECT_EQ(ValueOr(pooled, "select pg_backend_pid()"), first);
  EXPECT_EQ(ValueOr(pooled, "show lock_timeout"), "4321ms");
  EXPECT_EQ(ValueOr(url, "show lock_timeout"), "0");
}

TEST(PgBouncerTest, ComesBackAfterAKill) {
  ASSERT_OK_AND_ASSIGN(auto bouncer, PgBouncer::Start(SharedCluster()));
  EXPECT_EQ(ValueOr(bouncer->Url("postgres"), "select 1"), "1");
  bouncer->Kill();
  EXPECT_THAT(Sql(bouncer->Url("postgres"), "select 1"), StatusIs(absl::StatusCode::kUnavailable));
  ASSERT_OK(bouncer->StartAgain());
  EXPECT_EQ(ValueOr(bouncer->Url("postgres"), "select 1"), "1");
}

}  // namespace
}  // namespace engine::postgres
