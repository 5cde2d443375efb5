// halo-server as people meet it: how it is started, what it does when its database is not there,
// is damaged, or goes away.

#include "tests/support/halo_server.h"

#include <atomic>

#include <gmock/gmock.h>

#include "engine/base/thread.h"
#include "tests/support/exposition.h"
#include "tests/support/poll.h"
#include "tests/support/postgres.h"
#include "tests/support/session.h"
#include "tests/support/status_matchers.h"

namespace {

using support::Finished;
using support::HaloServer;
using support::HttpClient;
using support::HttpResponse;
using support::PrivateDirectory;
using support::TestStore;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

constexpr char kClusters[] = "/api/hyperfleet/v1/clusters";

engine::Deadline Soon() {
  return engine::Deadline::After(std::chrono::seconds(60));
}

Finished RunServer(std::vector<std::string> args) {
  args.insert(args.begin(), support::Program("halo-server"));
  const auto finished = support::RunProcess({.argv = std::move(args)}, Soon());
  EXPECT_OK(finished);
  return finished.value_or(Finished{});
}

std::string ClusterBody(const std::string& name) {
  return R"({"kind":"Cluster","name":")" + name + R"(","spec":{}})";
}

// Asks until the status is as wanted; the last answer.
HttpResponse WaitForStatus(const std::string& url, const std::string& path, int status) {
  HttpResponse last;
  support::WaitFor(
      [&] {
        HttpClient client(url);
        const auto response = client.Get(path);
        last = response.value_or(HttpResponse{});
        return last.status == status;
      },
      Soon());
  return last;
}

TEST(HaloServerTest, SaysWhatItIs) {
  for (const std::string way : {"version", "--version"}) {
    const Finished finished = RunServer({way});
    EXPECT_EQ(finished.exit.code, 0);
    EXPECT_THAT(finished.out, StartsWith("halo-server "));
  }
  for (const std::vector<std::string>& way :
       {std::vector<std::string>{"--help"}, {"serve", "--help"}, {"migrate", "--help"}}) {
    const Finished finished = RunServer(way);
    EXPECT_EQ(finished.exit.code, 0);
    EXPECT_THAT(finished.out, HasSubstr("example: halo-server "));
  }
}

TEST(HaloServerTest, WrongUseIsTwo) {
  for (const std::vector<std::string>& wrong : {std::vector<std::string>{},
                                                {"dance"},
                                                {"serve", "--bogus"},
                                                {"serve", "--workers"},
                                                {"serve", "--workers", "0"},
                                                {"serve", "--memory", "--listen", "nonsense"},
                                                {"serve", "--memory", "--data-dir", "x"},
                                                {"serve", "--memory", "--cache-dir", "x"},
                                                {"serve", "--memory", "--require-synchronous"},
                                                {"migrate"}}) {
    const Finished finished = RunServer(wrong);
    EXPECT_EQ(finished.exit.code, 2) << finished.err;
    EXPECT_THAT(finished.err, StartsWith("error: "));
    EXPECT_EQ(finished.out, "");
  }
}

// Case 96.
TEST(HaloServerTest, WhatItWillNotServeIsOne) {
  const std::string open = "server: {jwt: {enabled: false}}\n";
  ASSERT_OK_AND_ASSIGN(const auto directory, PrivateDirectory::Make());
  ASSERT_OK_AND_ASSIGN(const std::string unknown,
                       directory->Write("unknown.yaml", "server: {prot: 1}\n"));
  ASSERT_OK_AND_ASSIGN(const std::string jwt,
                       directory->Write("jwt.yaml", "server: {jwt: {enabled: true}}\n"));
  ASSERT_OK_AND_ASSIGN(
      const std::string twice,
      directory->Write("twice.yaml",
                       open + "entities: [{kind: A, plural: as}, {kind: B, plural: as}]\n"));
  ASSERT_OK_AND_ASSIGN(
      const std::string orphan,
      directory->Write(
          "orphan.yaml",
          open + "entities: [{kind: A, plural: as, parent_kind: Nobody, on_parent_delete: "
                 "cascade}]\n"));
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{"serve", "--memory", "--listen", "0.0.0.0:0"},
        {"serve", "--memory", "--config", twice},
        {"serve", "--memory", "--config", orphan},
        {"serve", "--memory", "--config", unknown},
        {"serve", "--memory", "--config", jwt},
        {"serve", "--memory", "--config", "/nowhere.yaml"},
        {"serve", "--memory", "--admin-token-file", "/nowhere"}}) {
    const Finished finished = RunServer(wrong);
    EXPECT_EQ(finished.exit.code, 1) << finished.err;
    EXPECT_THAT(finished.err, StartsWith("error: "));
  }
}

TEST(HaloServerTest, AMisspeltVariableIsNamed) {
  ASSERT_OK_AND_ASSIGN(
      const Finished finished,
      support::RunProcess({.argv = {support::Program("halo-server"), "serve", "--memory"},
                           .env = {"HALO_LISTNE=127.0.0.1:0"}},
                          Soon()));
  EXPECT_EQ(finished.exit.code, 1);
  EXPECT_THAT(finished.err, HasSubstr("did you mean HALO_LISTEN?"));
}

// Case 92, but for what is in flight: ServerTest has that.
TEST(HaloServerTest, ProbesHaveAListenerOfTheirOwn) {
  ASSERT_OK_AND_ASSIGN(const auto store, TestStore::OnFiles());
  ASSERT_OK_AND_ASSIGN(
      const auto server,
      HaloServer::Start(*store, {"--health-listen", "127.0.0.1:0", "--log-level", "info"}));
  ASSERT_OK_AND_ASSIGN(const std::string line,
                       server->process().WaitForErrorLine("also listening", Soon()));
  const std::size_t begin = line.find("127.0.0.1:");
  const std::string health = "http://" + line.substr(begin, line.find('"', begin) - begin);
  EXPECT_EQ(WaitForStatus(health, "/readyz", 200).body, R"({"status":"ok"})");
  HttpClient client(health);
  ASSERT_OK_AND_ASSIGN(const HttpResponse healthy, client.Get("/healthz"));
  EXPECT_EQ(healthy.body, R"({"status":"ok"})");
  ASSERT_OK_AND_ASSIGN(const HttpResponse other, client.Get("/api/hyperfleet/v1/clusters"));
  EXPECT_EQ(other.status, 404);
  EXPECT_THAT(other.body, HasSubstr("HYPERFLEET-NTF-000"));
  ASSERT_OK(server->Stop());
}

TEST(HaloServerTest, AWarningSaysWhatIsOpen) {
  ASSERT_OK_AND_ASSIGN(const auto store, TestStore::OnFiles());
  ASSERT_OK_AND_ASSIGN(const auto server, HaloServer::Start(*store));
  ASSERT_OK(server->process().WaitForErrorLine("open to everybody on this machine", Soon()));
}

TEST(HaloServerTest, NoTwoOnOneDirectory) {
  ASSERT_OK_AND_ASSIGN(const auto store, TestStore::OnFiles());
  ASSERT_OK_AND_ASSIGN(const auto server, HaloServer::Start(*store));
  const Finished second =
      RunServer({"serve", "--listen", "127.0.0.1:0", "--data-dir", store->data_dir()});
  EXPECT_EQ(second.exit.code, 1);
  EXPECT_THAT(second.err, HasSubstr("error: "));
}

// Whoever holds the table of floors keeps every connection waiting but the one of the probe. A
// write that waits for it has the journal's lock meanwhile: for so long that readiness tells (1.5
// s) with a longer timeout.
TEST(HaloServerTest, WithEveryConnectionBusyItIsReadyAndRefusesInTime) {
  ASSERT_OK_AND_ASSIGN(const auto store, TestStore::OnPostgres());
  ASSERT_OK_AND_ASSIGN(
      const auto server,
      HaloServer::Start(*store, {"--database-max-conns", "5", "--database-request-timeout", "1s"}));
  support::Session holder(store->owner_url());
  ASSERT_TRUE(holder.Run("begin; lock table halo_streams in access exclusive mode").ok);
  std::atomic<int> answered = 0;
  {
    std::vector<engine::Thread> clients;
    for (int i = 0; i < 24; ++i) {
      clients.emplace_back("client", [&, i] {
        HttpClient client(server->url());
        const auto answer = i % 2 == 0
                                ? client.Get(kClusters)
                                : client.Post(kClusters, ClusterBody("busy" + std::to_string(i)));
        ASSERT_OK(answer);
        // Whoever only has to know that there is no news needs no floor: some reads go on.
        if (i % 2 != 0 || answer->status != 200) {
          EXPECT_EQ(answer->status, 503) << answer->body;
          EXPECT_EQ(answer->Header("retry-after"), "1");
        }
        ++answered;
      });
    }
    while (answered < 24) {
      HttpClient probe(server->url());
      const auto ready = probe.Get("/readyz");
      ASSERT_OK(ready);
      EXPECT_EQ(ready->status, 200) << ready->body;
    }
  }
  ASSERT_TRUE(holder.Run("rollback").ok);
  EXPECT_EQ(WaitForStatus(server->url(), kClusters, 200).status, 200);
}

TEST(HaloServerTest, WithoutADatabaseItTriesAndGivesUp) {
  ASSERT_OK_AND_ASSIGN(const auto directory, PrivateDirectory::Make());
  ASSERT_OK_AND_ASSIGN(const std::string url,
                       directory->Write("url", "host=" + directory->path() + " dbname=none"));
  const Finished finished =
      RunServer({"serve", "--listen", "127.0.0.1:0", "--database-url-file", url,
                 "--database-connect-attempts", "4", "--db-conn-retry-interval", "10ms"});
  EXPECT_EQ(finished.exit.code, 1);
  EXPECT_THAT(finished.err, AllOf(HasSubstr("attempt 3 of 4"), HasSubstr("\"level\":\"warn\""),
                                  HasSubstr("\nerror: ")));
  EXPECT_THAT(finished.out, Not(HasSubstr("listening")));
}

TEST(HaloServerTest, AnEmptyDatabaseNeedsMigrating) {
  ASSERT_OK_AND_ASSIGN(const auto directory, PrivateDirectory::Make());
  ASSERT_OK_AND_ASSIGN(const std::string database, support::SharedCluster().CreateDatabase("new"));
  ASSERT_OK_AND_ASSIGN(const std::string url, directory->Write("url", database));
  const Finished refused =
      RunServer({"serve", "--listen", "127.0.0.1:0", "--database-url-file", url});
  EXPECT_EQ(refused.exit.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("migrate"));
  const Finished first = RunServer({"migrate", "--database-url-file", url});
  EXPECT_EQ(first.exit.code, 0) << first.err;
  EXPECT_THAT(first.out, HasSubstr("0001_init.sql"));
  const Finished second = RunServer({"migrate", "--database-url-file", url});
  EXPECT_EQ(second.exit.code, 0);
  EXPECT_THAT(second.out, Not(HasSubstr("0001_init.sql")));
}

TEST(HaloServerTest, ItCanMigrateByItself) {
  ASSERT_OK_AND_ASSIGN(const auto directory, PrivateDirectory::Make());
  ASSERT_OK_AND_ASSIGN(const std::string database, support::SharedCluster().CreateDatabase("auto"));
  ASSERT_OK_AND_ASSIGN(const std::string url, directory->Write("url", database));
  ASSERT_OK_AND_ASSIGN(const auto server, support::Process::Start(
                                              {.argv = {support::Program("halo-server"), "serve",
                                                        "--listen", "127.0.0.1:0", "--auto-migrate",
                                                        "--database-url-file", url}}));
  ASSERT_OK(server->WaitForLine("listening on http://127.0.0.1:", Soon()));
  server->Signal(SIGTERM);
  ASSERT_OK_AND_ASSIGN(const support::ExitStatus exit, server->Wait(Soon()));
  EXPECT_EQ(exit.code, 0);
}

TEST(HaloServerTest, ARestartKeepsEverything) {
  ASSERT_OK_AND_ASSIGN(const auto store, TestStore::OnFiles());
  HttpResponse before;
  {
    ASSERT_OK_AND_ASSIGN(const auto server, HaloServer::Start(*store));
    HttpClient client(server->url());
    ASSERT_OK_AND_ASSIGN(const HttpResponse made, client.Post(kClusters, ClusterBody("kept")));
    EXPECT_EQ(made.status, 201);
    ASSERT_OK_AND_ASSIGN(before, client.Get(kClusters));
    ASSERT_OK(server->Stop());
  }
  ASSERT_OK_AND_ASSIGN(const auto server, HaloServer::Start(*store));
  HttpClient client(server->url());
  ASSERT_OK_AND_ASSIGN(const HttpResponse after, client.Get(kClusters));
  EXPECT_EQ(after.body, before.body);
}

TEST(HaloServerTest, MetricsTellOfStatementsAndConnections) {
  ASSERT_OK_AND_ASSIGN(const auto store, TestStore::OnPostgres());
  ASSERT_OK_AND_ASSIGN(const auto server, HaloServer::Start(*store));
  HttpClient client(server->url());
  ASSERT_OK_AND_ASSIGN(const HttpResponse made, client.Post(kClusters, ClusterBody("counted")));
  ASSERT_EQ(made.status, 201) << made.body;
  ASSERT_OK_AND_ASSIGN(const HttpResponse text, client.Get("/metrics"));
  ASSERT_OK_AND_ASSIGN(const auto metrics, support::Exposition::Parse(text.body));
  EXPECT_EQ(metrics.Value("hyperfleet_db_query_duration_seconds_count",
                          {{"operation", "create"}, {"table", "halo_journal"}}),
            1);
  EXPECT_GT(metrics.Value("hyperfleet_db_connections_open").value_or(0), 0);
  EXPECT_TRUE(metrics.Value("hyperfleet_db_connections_in_use").has_value());
}

// Case 93. A database of its own, because it is stopped.
TEST(HaloServerTest, ALostDatabaseIsToldAndFoundAgain) {
  ASSERT_OK_AND_ASSIGN(const auto cluster, support::PostgresCluster::Start());
  ASSERT_OK_AND_ASSIGN(const std::string database, cluster->CreateDatabase("lost"));
  ASSERT_OK_AND_ASSIGN(const auto directory, PrivateDirectory::Make());
  ASSERT_OK_AND_ASSIGN(const std::string file, directory->Write("url", database));
  ASSERT_OK_AND_ASSIGN(const auto server, support::Process::Start(
                                              {.argv = {support::Program("halo-server"), "serve",
                                                        "--listen", "127.0.0.1:0", "--auto-migrate",
                                                        "--database-url-file", file}}));
  ASSERT_OK_AND_ASSIGN(const std::string line, server->WaitForLine("listening on ", Soon()));
  const std::string url = line.substr(line.find("http"));
  EXPECT_EQ(WaitForStatus(url, "/readyz", 200).status, 200);
  HttpClient client(url);
  ASSERT_OK_AND_ASSIGN(const HttpResponse made, client.Post(kClusters, ClusterBody("before")));
  EXPECT_EQ(made.status, 201);

  ASSERT_OK(cluster->Stop(support::StopMode::kImmediate));
  const HttpResponse unready = WaitForStatus(url, "/readyz", 503);
  EXPECT_THAT(unready.body, HasSubstr(R"("status":"not_ready")"));
  ASSERT_OK_AND_ASSIGN(const HttpResponse healthy, client.Get("/healthz"));
  EXPECT_EQ(healthy.status, 200);
  ASSERT_OK_AND_ASSIGN(const HttpResponse refused, client.Post(kClusters, ClusterBody("during")));
  EXPECT_EQ(refused.status, 503);
  EXPECT_THAT(refused.body, AllOf(HasSubstr("HYPERFLEET-SVC-001"), HasSubstr(R"("outcome":)"),
                                  Not(HasSubstr("SQLSTATE")), Not(HasSubstr("connection to"))));
  ASSERT_OK_AND_ASSIGN(const HttpResponse unread, client.Get(kClusters));
  EXPECT_EQ(unread.status, 503);

  ASSERT_OK(cluster->StartAgain());
  EXPECT_EQ(WaitForStatus(url, "/readyz", 200).status, 200);
  ASSERT_OK_AND_ASSIGN(const HttpResponse again, client.Post(kClusters, ClusterBody("after")));
  EXPECT_EQ(again.status, 201) << again.body;
  ASSERT_OK_AND_ASSIGN(const HttpResponse list, client.Get(kClusters));
  EXPECT_THAT(list.body, AllOf(HasSubstr("before"), HasSubstr("after"), HasSubstr("\"total\":2")));
}

// C35: somebody changed one byte of one stored entry.
TEST(HaloServerTest, AChangedAuditEntryIsNamedAndTheRestServes) {
  ASSERT_OK_AND_ASSIGN(const auto store, TestStore::OnPostgres());
  {
    ASSERT_OK_AND_ASSIGN(const auto server, HaloServer::Start(*store));
    HttpClient client(server->url());
    for (const std::string name : {"one", "two", "three"}) {
      ASSERT_OK_AND_ASSIGN(const HttpResponse made, client.Post(kClusters, ClusterBody(name)));
      EXPECT_EQ(made.status, 201);
    }
    ASSERT_OK(server->Stop());
  }
  ASSERT_OK(support::Sql(store->owner_url(),
                         "update halo_journal set record = set_byte(record, 20, "
                         "get_byte(record, 20) # 1) where stream_id = 1 and position = 2"));
  ASSERT_OK_AND_ASSIGN(const auto server, HaloServer::Start(*store));
  HttpClient client(server->url());
  ASSERT_OK_AND_ASSIGN(const HttpResponse audit, client.Get("/api/v1/audit", HaloServer::Admin()));
  EXPECT_EQ(audit.status, 200);
  EXPECT_THAT(audit.body, AllOf(HasSubstr(R"("verified":false)"), HasSubstr("seq 2:")));
  const HttpResponse unready = WaitForStatus(server->url(), "/readyz", 503);
  EXPECT_THAT(unready.body, AllOf(HasSubstr("audit"), HasSubstr("position 2")));
  ASSERT_OK_AND_ASSIGN(const HttpResponse list, client.Get(kClusters));
  EXPECT_EQ(list.status, 200);
  EXPECT_THAT(list.body, HasSubstr("\"total\":3"));
  ASSERT_OK_AND_ASSIGN(const HttpResponse refused, client.Post(kClusters, ClusterBody("four")));
  EXPECT_EQ(refused.status, 503) << refused.body;
  ASSERT_OK_AND_ASSIGN(const Finished verify,
                       support::RunHalo({"audit", "verify", store->flags()[0], store->flags()[1]}));
  EXPECT_EQ(verify.exit.code, 1);
  EXPECT_THAT(verify.err, StartsWith("error: ")) << "nothing before what went wrong";
  EXPECT_THAT(verify.out + verify.err, HasSubstr("2"));
}

}  // namespace
