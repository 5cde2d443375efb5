// Migrations with real processes: killed midway, many at once, and two builds of the server that
// take turns on one database while clients write.

#include <atomic>
#include <set>

#include <absl/strings/str_format.h>
#include <boost/json.hpp>
#include <gmock/gmock.h>

#include "engine/base/mutex.h"
#include "engine/base/thread.h"
#include "tests/support/halo_server.h"
#include "tests/support/poll.h"
#include "tests/support/session.h"
#include "tests/support/status_matchers.h"

namespace nemesis {
namespace {

using support::HaloServer;
using support::HttpClient;
using support::PrivateDirectory;
using support::Process;
using support::Session;
using support::SharedCluster;
using support::TestStore;

constexpr char kNext[] = HALO_SERVER_NEXT;
constexpr char kClusters[] = "/api/hyperfleet/v1/clusters";

engine::Deadline Soon() {
  return engine::Deadline::After(std::chrono::seconds(90));
}

class MigratorsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(directory_, PrivateDirectory::Make());
    ASSERT_OK_AND_ASSIGN(url_, SharedCluster().CreateDatabase("migrators"));
    ASSERT_OK_AND_ASSIGN(url_file_, directory_->Write("url", url_));
  }

  std::unique_ptr<Process> Migrate(const std::string& program) {
    auto process = Process::Start({.argv = {program, "migrate", "--database-url-file", url_file_}});
    EXPECT_OK(process);
    return *std::move(process);
  }
  std::string Value(const std::string& sql) {
    const auto value = support::SqlValue(url_, sql);
    EXPECT_OK(value) << sql;
    return value.value_or("");
  }
  // Names of all columns of our tables: what a half migration would change.
  std::string Schema() {
    return Value(
        "select string_agg(c.relname || '.' || a.attname, ' ' order by c.relname, a.attnum)"
        " from pg_class c join pg_attribute a on a.attrelid = c.oid"
        " where c.relname ~ '^halo_' and c.relkind = 'r' and a.attnum > 0");
  }

  std::unique_ptr<PrivateDirectory> directory_;
  std::string url_;
  std::string url_file_;
};

TEST_F(MigratorsTest, OneThatIsKilledMidwayLeavesNothingAndTheNextOneDoesAll) {
  ASSERT_OK(Migrate(support::Program("halo-server"))->Wait(Soon()));
  const std::string before = Schema();
  // The table halo_next is made by then, and the next statement wants a table that is in use.
  Session reader(url_);
  ASSERT_TRUE(reader.Run("begin; select * from halo_streams").ok);
  for (int round = 0; round < 5; ++round) {
    const std::unique_ptr<Process> process = Migrate(kNext);
    ASSERT_TRUE(support::WaitFor(
        [&] {
          return Value(
                     "select count(*) from pg_locks where not granted"
                     " and relation = 'halo_streams'::regclass") == "1";
        },
        Soon(), std::chrono::milliseconds(1)));
    process->Signal(SIGKILL);
    ASSERT_OK(process->Wait(Soon()));
    EXPECT_EQ(Schema(), before);
  }
  ASSERT_TRUE(reader.Run("commit").ok);
  const std::unique_ptr<Process> last = Migrate(kNext);
  ASSERT_OK_AND_ASSIGN(const auto exit, last->Wait(Soon()));
  EXPECT_EQ(exit.code, 0) << last->Stderr();
  EXPECT_EQ(last->Stdout(), "applied 0003_next.sql\n");
  EXPECT_EQ(Value("select count(*) from halo_schema_migrations"), "3");
}

TEST_F(MigratorsTest, OfManyAtOnceOneDoesTheWorkThoughOthersAreKilled) {
  std::vector<std::unique_ptr<Process>> runners;
  for (int i = 0; i < 6; ++i) {
    runners.push_back(Migrate(i % 2 == 0 ? kNext : support::Program("halo-server")));
  }
  runners[0]->Signal(SIGKILL);
  runners[3]->Signal(SIGKILL);
  int applied = 0;
  for (std::size_t i = 0; i < runners.size(); ++i) {
    ASSERT_OK_AND_ASSIGN(const auto exit, runners[i]->Wait(Soon()));
    EXPECT_TRUE(exit.code == 0 || exit.signal == SIGKILL) << runners[i]->Stderr();
    applied += runners[i]->Stdout().find("0003_next.sql") != std::string::npos ? 1 : 0;
  }
  EXPECT_LE(applied, 1);
  EXPECT_EQ(Value("select string_agg(version::text, ',' order by version)"
                  " from halo_schema_migrations"),
            "1,2,3");
  ASSERT_OK_AND_ASSIGN(const auto exit, Migrate(kNext)->Wait(Soon()));
  EXPECT_EQ(exit.code, 0);
}

// Clients that write to whichever server is there, and remember what was acknowledged.
class Clients {
 public:
  explicit Clients(int count) {
    for (int i = 0; i < count; ++i) {
      threads_.emplace_back("client", [this, i] { Write(i); });
    }
  }
  ~Clients() { done_ = true; }

  void Use(std::vector<std::string> urls) {
    engine::MutexLock lock(mutex_);
    urls_ = std::move(urls);
  }
  std::size_t acknowledged() {
    engine::MutexLock lock(mutex_);
    return names_.size();
  }
  bool WaitForMore(std::size_t more) {
    const std::size_t before = acknowledged();
    return support::WaitFor([&] { return acknowledged() >= before + more; }, Soon());
  }
  std::set<std::string> Stop() {
    done_ = true;
    threads_.clear();
    engine::MutexLock lock(mutex_);
    return names_;
  }

 private:
  std::string UrlFor(int number) {
    engine::MutexLock lock(mutex_);
    return urls_.empty() ? "" : urls_[static_cast<std::size_t>(number) % urls_.size()];
  }

  void Write(int client) {
    for (int i = 0; !done_; ++i) {
      const std::string url = UrlFor(client + i);
      if (url.empty()) {
        continue;
      }
      const std::string name = absl::StrFormat("c-%d-%d", client, i);
      HttpClient http(url);
      const auto created =
          http.Post(kClusters, R"({"kind":"Cluster","name":")" + name + R"(","spec":{}})");
      if (created.ok() && created->status == 201) {
        engine::MutexLock lock(mutex_);
        names_.insert(name);
      }
    }
  }

  std::atomic<bool> done_ = false;
  engine::Mutex mutex_;
  std::vector<std::string> urls_ ABSL_GUARDED_BY(mutex_);
  std::set<std::string> names_ ABSL_GUARDED_BY(mutex_);
  std::vector<engine::Thread> threads_;
};

std::set<std::string> NamesOn(const std::string& url) {
  std::set<std::string> names;
  for (int page = 1;; ++page) {
    HttpClient http(url);
    const auto list = http.Get(absl::StrFormat("%s?page=%d&size=100", kClusters, page));
    EXPECT_OK(list);
    if (!list.ok() || list->status != 200) {
      ADD_FAILURE() << (list.ok() ? list->body : "");
      return names;
    }
    const boost::json::value document = boost::json::parse(list->body);
    const auto& items = document.at("items").as_array();
    for (const auto& item : items) {
      names.emplace(item.at("name").as_string());
    }
    if (items.size() < 100) {
      return names;
    }
  }
}

// Of /metrics; 0 when it is not there.
double Metric(const std::string& url, const std::string& name) {
  HttpClient http(url);
  const auto page = http.Get("/metrics");
  const std::size_t at = page.ok() ? page->body.find("\n" + name + " ") : std::string::npos;
  return at == std::string::npos ? 0 : std::atof(page->body.c_str() + at + name.size() + 2);
}

bool BecomesLevel(const HaloServer& server, int level) {
  return support::WaitFor([&] { return Metric(server.url(), "halo_feature_level") == level; },
                          Soon(), std::chrono::milliseconds(20));
}

class RollingTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(store_, TestStore::OnPostgres());
    ASSERT_OK_AND_ASSIGN(owner_file_, store_->directory().Write("owner", store_->owner_url()));
  }
  std::unique_ptr<HaloServer> Start(const std::string& program) {
    auto server = HaloServer::Start(*store_, {}, "ops", program);
    EXPECT_OK(server);
    return *std::move(server);
  }
  absl::Status MigrateToNext() {
    return support::RunToSuccess(
        {.argv = {kNext, "migrate", "--database-url-file", owner_file_, "--grant-to", "halo_app"}},
        Soon());
  }

  std::unique_ptr<TestStore> store_;
  std::string owner_file_;
};

TEST_F(RollingTest, TwoBuildsServeOneDatabaseThroughAnUpgradeAndBack) {
  const std::string now = support::Program("halo-server");
  auto old_one = Start(now);
  auto old_two = Start(now);
  Clients clients(6);
  clients.Use({old_one->url(), old_two->url()});
  ASSERT_TRUE(clients.WaitForMore(20));

  ASSERT_OK(MigrateToNext());
  ASSERT_TRUE(clients.WaitForMore(20)) << "the old build serves the new schema";

  // Up: one at a time.
  auto new_one = Start(kNext);
  clients.Use({old_two->url(), new_one->url()});
  ASSERT_OK(old_one->Stop());
  ASSERT_TRUE(clients.WaitForMore(20)) << "both builds at once";
  auto new_two = Start(kNext);
  clients.Use({new_one->url(), new_two->url()});
  ASSERT_OK(old_two->Stop());
  ASSERT_TRUE(clients.WaitForMore(20));

  // And back, in a hurry: the schema stays.
  old_one = Start(now);
  clients.Use({old_one->url(), new_two->url()});
  new_one->Kill();
  ASSERT_TRUE(clients.WaitForMore(20));
  old_two = Start(now);
  clients.Use({old_one->url(), old_two->url()});
  new_two->Kill();
  ASSERT_TRUE(clients.WaitForMore(20));

  const std::set<std::string> acknowledged = clients.Stop();
  for (const HaloServer* server : {old_one.get(), old_two.get()}) {
    const std::set<std::string> there = NamesOn(server->url());
    for (const std::string& name : acknowledged) {
      EXPECT_TRUE(there.contains(name)) << name << " was acknowledged and is gone";
    }
  }
  EXPECT_OK(support::RunToSuccess({.argv = {support::Program("halo"), "journal", "verify",
                                            "--database-url-file", store_->flags()[1]}},
                                  Soon()));
  std::printf("[          ] %zu changes acknowledged\n", acknowledged.size());
}

// What only the next build can read is written when nobody is left who cannot, and no more when
// somebody is back who cannot.
TEST_F(RollingTest, TheFeatureLevelIsThatOfTheOldestBuildThatServes) {
  const std::string now = support::Program("halo-server");
  auto old_one = Start(now);
  ASSERT_OK(MigrateToNext());
  auto new_one = Start(kNext);
  auto new_two = Start(kNext);
  ASSERT_TRUE(
      support::WaitFor([&] { return Metric(new_one->url(), "halo_replicas") == 3; }, Soon()));
  EXPECT_TRUE(BecomesLevel(*new_one, 1));
  EXPECT_TRUE(BecomesLevel(*old_one, 1));
  ASSERT_OK(old_one->Stop());
  // As if the minute had passed for which a replica counts that is not heard of.
  ASSERT_OK(
      support::Sql(store_->owner_url(), "delete from halo_heartbeat where feature_level = 1"));
  EXPECT_TRUE(BecomesLevel(*new_one, 2));
  EXPECT_TRUE(BecomesLevel(*new_two, 2));
  old_one = Start(now);
  EXPECT_TRUE(BecomesLevel(*new_one, 1));
  EXPECT_TRUE(BecomesLevel(*new_two, 1));
}

// A next build never serves the schema of before.
TEST_F(RollingTest, ANewerBuildRefusesTheOldSchema) {
  std::vector<std::string> argv = {kNext, "serve", "--listen", "127.0.0.1:0"};
  argv.insert(argv.end(), store_->flags().begin(), store_->flags().end());
  ASSERT_OK_AND_ASSIGN(const auto finished, support::RunProcess({.argv = argv}, Soon()));
  EXPECT_EQ(finished.exit.code, 1);
  EXPECT_THAT(finished.err, testing::HasSubstr("halo-server migrate"));
}

// Without a lock's timeout the migration would stop every client behind a long reader.
TEST_F(RollingTest, AMigrationBehindALongReaderStopsNobody) {
  auto server = Start(support::Program("halo-server"));
  Session reader(store_->owner_url());
  ASSERT_TRUE(reader.Run("begin; select * from halo_streams; select * from halo_journal").ok);
  Clients clients(4);
  clients.Use({server->url()});
  absl::Status migrated = absl::UnknownError("not run");
  engine::Thread migrator("migrator", [&] { migrated = MigrateToNext(); });
  Session observer(store_->owner_url());
  const engine::Deadline enough = Soon();
  int met = 0;
  while (met < 3 && !enough.HasPassed()) {
    if (observer
            .Run("select count(*) from pg_locks where not granted and relation ="
                 " 'halo_streams'::regclass and mode = 'AccessExclusiveLock'")
            .Value() != "0") {
      ASSERT_TRUE(clients.WaitForMore(5));
      ++met;
    }
  }
  EXPECT_EQ(met, 3);
  ASSERT_TRUE(reader.Run("commit").ok);
  migrator.Join();
  EXPECT_OK(migrated);
  ASSERT_TRUE(clients.WaitForMore(5));
}

}  // namespace
}  // namespace nemesis
