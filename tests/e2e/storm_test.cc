// 32 adapters report about many clusters at once, each to two servers on one Postgres in turn: no
// report is lost, and every cluster has the conditions that the same reports make one after the
// other. With 250 clusters, for it takes a while; the whole, of 1,000, is
//   HALO_STORM_CLUSTERS=1000 ./dev test StatusStormTest

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include <absl/strings/str_format.h>
#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "engine/base/clock.h"
#include "engine/base/thread.h"
#include "tests/e2e/fleet.h"
#include "tests/support/halo_server.h"
#include "tests/support/status_matchers.h"

namespace e2e {
namespace {

using support::HaloServer;
using support::HttpClient;
using support::TestStore;

constexpr int kAdapters = 32;
constexpr int kClients = 16;

int ClustersInAll() {
  const char* const given = std::getenv("HALO_STORM_CLUSTERS");
  return given == nullptr ? 250 : std::atoi(given);
}

std::string Config() {
  std::string adapters;
  for (int i = 0; i < kAdapters; ++i) {
    adapters += absl::StrFormat("%sadapter-%d", i == 0 ? "" : ", ", i);
  }
  return "server: {jwt: {enabled: false}}\nentities:\n- kind: Cluster\n  plural: clusters\n"
         "  required_adapters: [" +
         adapters + "]\n";
}

// The same whenever it is asked for: one in fifty is not available.
std::string ReportBody(int cluster, int adapter, engine::Timestamp start) {
  const unsigned dice = (static_cast<unsigned>(cluster) * kAdapters + adapter) * 2654435761U >> 8;
  const auto age = std::chrono::microseconds(std::chrono::seconds(1 + dice % 600)).count();
  return absl::StrFormat(
      R"({"adapter":"adapter-%d","observed_generation":1,"observed_time":"%s","conditions":[)"
      R"({"type":"Available","status":"%s"},{"type":"Applied","status":"True"},)"
      R"({"type":"Health","status":"True"}]})",
      adapter, engine::FormatTimestamp({start.micros - age}), dice % 50 == 0 ? "False" : "True");
}

// Servers of one store, and the clusters that are made there.
class Fleet {
 public:
  Fleet(std::unique_ptr<TestStore> store, int servers) : store_(std::move(store)) {
    const auto config = store_->directory().Write("config.yaml", Config());
    EXPECT_OK(config);
    for (int i = 0; i < servers; ++i) {
      auto server = HaloServer::Start(*store_, {"--config", *config});
      EXPECT_OK(server);
      servers_.push_back(*std::move(server));
    }
  }

  void MakeClusters(int count) {
    paths_.resize(static_cast<std::size_t>(count));
    InParallel(kClients, [this](int client, Clients& clients) {
      for (std::size_t i = static_cast<std::size_t>(client); i < paths_.size(); i += kClients) {
        const auto made = clients.Next().Post(
            kClusters, absl::StrFormat(R"({"kind":"Cluster","name":"c-%d","spec":{}})", i));
        ASSERT_OK(made);
        ASSERT_EQ(made->status, 201) << made->body;
        paths_[i] = std::string(kClusters) + "/" + Text(made->body, "id");
      }
    });
  }

  // Every adapter by itself, about all clusters in an order of its own.
  void ReportAtOnce(engine::Timestamp start) {
    InParallel(kAdapters, [&](int adapter, Clients& clients) {
      std::vector<int> order(paths_.size());
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), std::minstd_rand(static_cast<unsigned>(adapter)));
      for (const int cluster : order) {
        Report(clients.Next(), cluster, adapter, start);
      }
    });
  }
  // All adapters about a cluster one after the other; clusters have nothing to do with each other.
  void ReportInTurn(engine::Timestamp start) {
    InParallel(kClients, [&](int client, Clients& clients) {
      for (std::size_t i = static_cast<std::size_t>(client); i < paths_.size(); i += kClients) {
        for (int adapter = 0; adapter < kAdapters; ++adapter) {
          Report(clients.Next(), static_cast<int>(i), adapter, start);
        }
      }
    });
  }

  // Of every cluster, as that server shows it: how many reports there are, and the conditions,
  // where the time of its creation is `R`.
  std::map<std::string, std::string> Conditions(std::size_t server) {
    std::map<std::string, std::string> shown;
    HttpClient client(servers_[server]->url());
    for (const std::string& path : paths_) {
      const auto cluster = client.Get(path);
      const auto statuses = client.Get(path + "/statuses?size=1");
      EXPECT_OK(cluster);
      EXPECT_OK(statuses);
      std::string conditions = Member(cluster->body, "status");
      const std::string created = Text(cluster->body, "created_time");
      for (std::size_t at = conditions.find(created); at != std::string::npos;
           at = conditions.find(created)) {
        conditions.replace(at, created.size(), "R");
      }
      shown[Text(cluster->body, "name")] = Member(statuses->body, "total") + " " + conditions;
    }
    return shown;
  }

 private:
  // Of one thread: the servers in turn.
  class Clients {
   public:
    explicit Clients(const std::vector<std::unique_ptr<HaloServer>>& servers) {
      for (const auto& server : servers) {
        clients_.push_back(std::make_unique<HttpClient>(server->url()));
      }
    }
    HttpClient& Next() { return *clients_[turn_++ % clients_.size()]; }

   private:
    std::vector<std::unique_ptr<HttpClient>> clients_;
    std::size_t turn_ = 0;
  };

  void InParallel(int threads, const std::function<void(int, Clients&)>& work) {
    std::vector<engine::Thread> running;
    for (int i = 0; i < threads; ++i) {
      running.emplace_back("client", [this, i, &work] {
        Clients clients(servers_);
        work(i, clients);
      });
    }
  }
  void Report(HttpClient& client, int cluster, int adapter, engine::Timestamp start) {
    const auto answer = client.Put(paths_[static_cast<std::size_t>(cluster)] + "/statuses",
                                   ReportBody(cluster, adapter, start));
    ASSERT_OK(answer);
    ASSERT_EQ(answer->status, 201) << answer->body;
  }

  const std::unique_ptr<TestStore> store_;
  std::vector<std::unique_ptr<HaloServer>> servers_;
  std::vector<std::string> paths_;
};

TEST(StatusStormTest, NothingIsLostAndTheConditionsAreThoseOfReportsInTurn) {
  const engine::Timestamp start = engine::SystemClock().Now();
  ASSERT_OK_AND_ASSIGN(auto database, TestStore::OnPostgres());
  Fleet storm(std::move(database), 2);
  storm.MakeClusters(ClustersInAll());
  storm.ReportAtOnce(start);
  ASSERT_FALSE(HasFailure());
  ASSERT_OK_AND_ASSIGN(auto files, TestStore::OnFiles());
  Fleet in_turn(std::move(files), 1);
  in_turn.MakeClusters(ClustersInAll());
  in_turn.ReportInTurn(start);
  ASSERT_FALSE(HasFailure());
  const auto expected = in_turn.Conditions(0);
  EXPECT_EQ(expected.size(), static_cast<std::size_t>(ClustersInAll()));
  EXPECT_EQ(storm.Conditions(0), expected);
  EXPECT_EQ(storm.Conditions(1), expected);
  int reconciled = 0;
  for (const auto& [name, shown] : expected) {
    EXPECT_EQ(shown.substr(0, 3), "32 ") << name;
    reconciled += shown.find(R"({"type":"Reconciled","status":"True")") != std::string::npos;
  }
  // Both happen.
  EXPECT_GT(reconciled, 0);
  EXPECT_LT(reconciled, ClustersInAll());
}

}  // namespace
}  // namespace e2e
