// A day in a fleet: 500 clusters and 1,000 node pools made, changed and deleted by 16 clients at
// once, once on files and once on two replicas over Postgres. Whatever the interleaving, all
// replicas, a restart, the tools and a copy of the journal agree in the end, and both days end
// with the same fleet.

#include <atomic>

#include <absl/strings/str_format.h>
#include <gtest/gtest.h>

#include "engine/base/thread.h"
#include "tests/e2e/fleet.h"
#include "tests/e2e/state.h"
#include "tests/support/halo_server.h"
#include "tests/support/status_matchers.h"

namespace e2e {
namespace {

using support::HaloServer;
using support::HttpClient;
using support::HttpResponse;
using support::TestStore;

constexpr int kClients = 16;
constexpr int kClustersInAll = 500;

// One client's day over the clusters whose number it has modulo the clients. Each request goes to
// the next server in turn, so what one server acknowledged must be there on the other.
class ClientDay {
 public:
  ClientDay(const std::vector<std::string>& urls, int client) : client_(client) {
    for (const std::string& url : urls) {
      servers_.push_back(std::make_unique<HttpClient>(url));
    }
  }

  void Run() {
    for (int number = client_; number < kClustersInAll; number += kClients) {
      RunCluster(number);
      if (testing::Test::HasFailure()) {
        return;
      }
    }
    RunKills();
  }

 private:
  HttpClient& Next() { return *servers_[turn_++ % servers_.size()]; }

  // The body of an answer that must have this status.
  std::string Expect(int status, const absl::StatusOr<HttpResponse>& response) {
    EXPECT_OK(response);
    if (!response.ok()) {
      return "{}";
    }
    EXPECT_EQ(response->status, status) << response->body;
    return response->status == status && !response->body.empty() ? response->body : "{}";
  }

  void RunCluster(int number) {
    const std::string name = absl::StrFormat("cluster-%d", number);
    const std::string body = ClusterBody(name, number);
    const std::string cluster = Text(Expect(201, Next().Post(kClusters, body)), "id");
    Expect(409, Next().Post(kClusters, body));  // The other server knows the name already.
    const std::string path = std::string(kClusters) + "/" + cluster;
    const std::string pools = NodePoolsOf(cluster);
    const std::string first = Text(Expect(201, Next().Post(pools, NodePoolBody("blue", 2))), "id");
    Expect(201, Next().Post(pools, NodePoolBody("green", 3)));
    EXPECT_EQ(Member(Expect(200, Next().Get(pools)), "total"), "2");
    if (number % 3 == 0) {
      EXPECT_EQ(Member(Expect(200, Next().Patch(path, SpecPatch(number))), "generation"), "2");
      EXPECT_EQ(Member(Expect(200, Next().Get(path)), "generation"), "2");
      Expect(200, Next().Patch(path, SpecPatch(number)));  // Identical: a no-op.
    }
    if (number % 4 == 0) {
      Expect(200, Next().Patch(pools + "/" + first, LabelPatch(number)));
    }
    if (number % 5 == 0) {
      Expect(202, Next().Delete(pools + "/" + first));
      Expect(409, Next().Patch(pools + "/" + first, LabelPatch(number)));
    }
    if (number % 7 == 0) {
      DeleteCluster(number, path, body);
    }
  }

  void DeleteCluster(int number, const std::string& path, const std::string& body) {
    Expect(202, Next().Delete(path));
    Expect(202, Next().Delete(path));
    Expect(409, Next().Post(path + "/nodepools", NodePoolBody("late", 1)));
    if (number % 2 == 0) {
      Expect(204, Next().Post(path + "/force-delete", R"({"reason":"end of the day"})"));
      Expect(404, Next().Get(path));
      Expect(404, Next().Get(path + "/nodepools"));
    }
    Expect(201, Next().Post(kClusters, body));  // Its name is free again.
  }

  void RunKills() {
    const std::string kill = absl::StrFormat("/api/v1/experiments/exp-%d", client_);
    const std::string reason = R"({"reason":"too many errors"})";
    EXPECT_EQ(Member(Expect(200, Next().Post(kill + "/kill", reason, Admin())), "changed"), "true");
    EXPECT_EQ(Member(Expect(200, Next().Post(kill + "/kill", reason, Admin())), "changed"),
              "false");
    const std::string listed = Expect(200, Next().Get("/api/v1/killswitch", Admin()));
    EXPECT_NE(listed.find(absl::StrFormat("\"exp-%d\"", client_)), std::string::npos) << listed;
    if (client_ % 2 == 0) {
      Expect(200, Next().Post(kill + "/unkill", "{}", Admin()));
    }
  }

  static support::HttpHeaders Admin() { return HaloServer::Admin(); }

  const int client_;
  std::vector<std::unique_ptr<HttpClient>> servers_;
  std::size_t turn_ = 0;
};

void RunDay(const std::vector<std::string>& urls) {
  std::vector<engine::Thread> clients;
  for (int client = 0; client < kClients; ++client) {
    clients.emplace_back("client", [&urls, client] { ClientDay(urls, client).Run(); });
  }
}

// Runs the day on `replicas` servers over `store`, checks that everything agrees, and returns the
// fleet at its end.
Contents DayOn(const TestStore& store, int replicas) {
  std::vector<std::unique_ptr<HaloServer>> servers;
  std::vector<std::string> urls;
  for (int i = 0; i < replicas; ++i) {
    auto server = HaloServer::Start(store);
    EXPECT_OK(server);
    if (!server.ok()) {
      return {};
    }
    urls.push_back((*server)->url());
    servers.push_back(*std::move(server));
  }
  RunDay(urls);
  Contents contents;
  Digests digests;
  for (const std::string& url : urls) {
    HttpClient client(url);
    auto state = ReadState(client);
    EXPECT_OK(state);
    if (!state.ok()) {
      return {};
    }
    EXPECT_TRUE(digests.empty() || digests == state->digests) << "replicas differ";
    EXPECT_TRUE(contents.empty() || contents == state->contents) << "replicas differ";
    digests = state->digests;
    contents = state->contents;
  }
  EXPECT_OK(AgreesWithTools(store, digests));
  for (auto& server : servers) {
    EXPECT_OK(server->Stop());
  }
  servers.clear();
  EXPECT_OK(AgreesAfterRestart(store, digests, contents));
  return contents;
}

TEST(DayTest, OnFilesAndOnTwoReplicasEndsWithTheSameFleet) {
  ASSERT_OK_AND_ASSIGN(const auto files, TestStore::OnFiles());
  const Contents on_files = DayOn(*files, 1);
  ASSERT_FALSE(testing::Test::HasFailure());
  EXPECT_GT(on_files.size(), 1000U);

  ASSERT_OK_AND_ASSIGN(const auto database, TestStore::OnPostgres());
  const Contents on_postgres = DayOn(*database, 2);
  EXPECT_EQ(on_files, on_postgres);
  EXPECT_OK(CopyFoldsToTheSame(*database));
}

TEST(DayTest, ThroughAPoolerInTransactionModeIsTheSame) {
  ASSERT_OK_AND_ASSIGN(const auto database, TestStore::OnPostgres(/*pooled=*/true));
  EXPECT_GT(DayOn(*database, 2).size(), 1000U);
}

}  // namespace
}  // namespace e2e
