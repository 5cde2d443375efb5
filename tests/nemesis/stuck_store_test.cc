// A database that answers and lets nothing be written: locks that nobody gives up, a right that is
// gone, a full disk. Servers say which, in answers and on /readyz, and heal by themselves.

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/base/thread.h"
#include "tests/support/halo_server.h"
#include "tests/support/poll.h"
#include "tests/support/session.h"
#include "tests/support/status_matchers.h"

namespace nemesis {
namespace {

using support::HaloServer;
using support::HttpClient;
using support::Session;
using support::TestStore;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr char kClusters[] = "/api/hyperfleet/v1/clusters";
constexpr char kCluster[] = R"({"kind":"Cluster","name":"stuck","spec":{}})";
constexpr char kLock[] = "select pg_advisory_xact_lock('halo_journal'::regclass::oid::int4, 0)";

engine::Deadline Patience() {
  return engine::Deadline::After(std::chrono::minutes(1));
}

class StuckStoreTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_OK_AND_ASSIGN(store_, TestStore::OnPostgres()); }
  void Serve(const std::vector<std::string>& flags) {
    ASSERT_OK_AND_ASSIGN(server_, HaloServer::Start(*store_, flags));
    ASSERT_EQ(Ready().status, 200);
  }
  void Run(const std::string& sql) { EXPECT_OK(support::Sql(store_->owner_url(), sql)) << sql; }

  support::HttpResponse Ready() {
    HttpClient client(server_->url());
    const auto answer = client.Get("/readyz");
    EXPECT_OK(answer);
    return answer.value_or(support::HttpResponse{});
  }
  support::HttpResponse Write() {
    HttpClient client(server_->url());
    const auto answer = client.Post(kClusters, kCluster);
    EXPECT_OK(answer);
    return answer.value_or(support::HttpResponse{});
  }
  bool Becomes(const std::function<bool()>& condition) {
    return support::WaitFor(condition, Patience(), std::chrono::milliseconds(20));
  }
  // Waits until /readyz is 503 and says `sentence`.
  void ExpectReadySays(const std::string& sentence) {
    EXPECT_TRUE(Becomes([&] {
      const support::HttpResponse ready = Ready();
      return ready.status == 503 && ready.body.find(sentence) != std::string::npos;
    })) << Ready().body;
    EXPECT_THAT(Ready().body, Not(HasSubstr("SQLSTATE")));
  }
  static void ExpectSays(const support::HttpResponse& answer, const std::string& sentence) {
    EXPECT_EQ(answer.status, 503) << answer.body;
    EXPECT_THAT(answer.body, AllOf(HasSubstr(sentence), HasSubstr(R"("outcome":"none")")));
    EXPECT_THAT(answer.body, Not(HasSubstr("SQLSTATE")));
  }
  void ExpectHeals() {
    EXPECT_TRUE(Becomes([&] { return Ready().status == 200; })) << Ready().body;
    EXPECT_EQ(Write().status, 201);
  }

  std::unique_ptr<TestStore> store_;
  std::unique_ptr<HaloServer> server_;
};

TEST_F(StuckStoreTest, ATransactionThatKeepsTheJournalsLockIsTold) {
  ASSERT_NO_FATAL_FAILURE(Serve({"--database-request-timeout", "2s"}));
  Session other(store_->owner_url());
  ASSERT_TRUE(other.Run("begin").ok);
  ASSERT_TRUE(other.Run(kLock).ok);
  ExpectReadySays("somebody else holds a lock");
  ExpectSays(Write(), "somebody else holds a lock");
  ASSERT_TRUE(other.Run("rollback").ok);
  ExpectHeals();
}

TEST_F(StuckStoreTest, ATableThatIsLockedIsTold) {
  ASSERT_NO_FATAL_FAILURE(Serve({"--database-request-timeout", "2s"}));
  Session other(store_->owner_url());
  ASSERT_TRUE(other.Run("begin; lock table halo_journal in access exclusive mode").ok);
  ExpectReadySays("somebody else holds a lock");
  ExpectSays(Write(), "somebody else holds a lock");
  ASSERT_TRUE(other.Run("rollback").ok);
  ExpectHeals();
}

TEST_F(StuckStoreTest, ARightThatIsGoneIsTold) {
  ASSERT_NO_FATAL_FAILURE(Serve({}));
  Run("revoke insert on halo_journal from public; do $$ begin execute"
      " (select string_agg(format('revoke insert on halo_journal from %I', grantee), ';')"
      "  from information_schema.role_table_grants where table_name = 'halo_journal'"
      "  and privilege_type = 'INSERT' and grantee <> current_user and grantee <> 'PUBLIC');"
      " end $$");
  ExpectReadySays("denies this server a right");
  ExpectSays(Write(), "denies this server a right");
}

TEST_F(StuckStoreTest, AFullDiskIsTold) {
  ASSERT_NO_FATAL_FAILURE(Serve({}));
  Run("create function full_disk() returns trigger language plpgsql as $$ begin"
      " raise exception 'could not extend file' using errcode = '53100'; end $$;"
      "create trigger full_disk before insert or update on halo_heartbeat for each row"
      " execute function full_disk();"
      "create trigger full_disk before insert on halo_journal for each row"
      " execute function full_disk()");
  ExpectReadySays("acknowledges no writes: the store's disk is full");
  ExpectSays(Write(), "the store's disk is full");
  Run("drop trigger full_disk on halo_heartbeat; drop trigger full_disk on halo_journal");
  ExpectHeals();
}

TEST_F(StuckStoreTest, AServerThatIsToldToEndDoesNotWaitForALock) {
  ASSERT_OK_AND_ASSIGN(const std::string config,
                       store_->directory().Write("config.yaml",
                                                 "health:\n  shutdown_timeout: 1s\n"
                                                 "server:\n  jwt:\n    enabled: false\n"));
  ASSERT_NO_FATAL_FAILURE(Serve({"--config", config, "--database-request-timeout", "10m"}));
  Session other(store_->owner_url());
  ASSERT_TRUE(other.Run("begin").ok);
  ASSERT_TRUE(other.Run(kLock).ok);
  engine::Thread writer("writer", [this] {
    HttpClient client(server_->url());
    const auto cut_off = client.Post(kClusters, kCluster);
    EXPECT_FALSE(cut_off.ok() && cut_off->status == 201);
  });
  ASSERT_TRUE(Becomes([this] {
    return support::SqlValue(store_->owner_url(),
                             "select count(*) from pg_locks where locktype = 'advisory'"
                             " and not granted and database = (select oid from pg_database where"
                             " datname = current_database())")
               .value_or("") == "1";
  }));
  server_->process().Signal(SIGTERM);
  ASSERT_OK_AND_ASSIGN(const support::ExitStatus exit, server_->process().Wait(Patience()));
  EXPECT_EQ(exit.code, 0);
  writer.Join();
}

}  // namespace
}  // namespace nemesis
