// Two and three servers on one Postgres: one order, nothing lost, and a read that starts after an
// acknowledgement anywhere shows it.

#include <atomic>

#include <absl/strings/str_format.h>
#include <boost/json.hpp>
#include <gtest/gtest.h>

#include "engine/base/mutex.h"
#include "engine/base/thread.h"
#include "tests/e2e/fleet.h"
#include "tests/e2e/state.h"
#include "tests/support/halo_server.h"
#include "tests/support/status_matchers.h"

namespace e2e {
namespace {

using support::HaloServer;
using support::HttpClient;
using support::TestStore;

constexpr int kWriters = 32;
constexpr int kOwnClusters = 6;
constexpr int kSharedNames = 12;

class OrderTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    auto store = TestStore::OnPostgres();
    ASSERT_OK(store);
    store_ = *std::move(store);
    for (int i = 0; i < GetParam(); ++i) {
      auto server = HaloServer::Start(*store_);
      ASSERT_OK(server);
      servers_.push_back(*std::move(server));
    }
  }
  std::string Url(int number) {
    return servers_[static_cast<std::size_t>(number) % servers_.size()]->url();
  }

  std::unique_ptr<TestStore> store_;
  std::vector<std::unique_ptr<HaloServer>> servers_;
};

// Creates on one server, reads at once on the next one.
void WriteHereReadThere(const std::string& here, const std::string& there, int writer) {
  HttpClient a(here);
  HttpClient b(there);
  for (int i = 0; i < kOwnClusters; ++i) {
    const std::string name = absl::StrFormat("own-%d-%d", writer, i);
    const auto created = a.Post(kClusters, ClusterBody(name, i));
    ASSERT_OK(created);
    ASSERT_EQ(created->status, 201) << created->body;
    const std::string path = std::string(kClusters) + "/" + Text(created->body, "id");
    const auto read = b.Get(path);
    ASSERT_OK(read);
    EXPECT_EQ(read->status, 200) << "acknowledged there, missing here";
    const auto patched = b.Patch(path, LabelPatch(i));
    ASSERT_OK(patched);
    EXPECT_EQ(patched->status, 200);
    const auto list = a.Get("/api/hyperfleet/v1/clusters?size=1");
    ASSERT_OK(list);
    const auto again = a.Get(path);
    ASSERT_OK(again);
    EXPECT_EQ(Member(again->body, "generation"), "2");
    EXPECT_EQ(read->body, created->body) << "one document, whoever answers";
  }
}

// Everybody wants the same names; exactly one gets each.
void WantSharedNames(const std::string& url, std::vector<std::atomic<int>>& created) {
  HttpClient client(url);
  for (int i = 0; i < kSharedNames; ++i) {
    const auto response = client.Post(kClusters, ClusterBody(absl::StrFormat("shared-%d", i), i));
    ASSERT_OK(response);
    EXPECT_TRUE(response->status == 201 || response->status == 409) << response->body;
    created[static_cast<std::size_t>(i)] += response->status == 201 ? 1 : 0;
  }
}

TEST_P(OrderTest, WritersOnTheSameAndOnDifferentKeysLoseNothing) {
  std::vector<std::atomic<int>> created(kSharedNames);
  {
    std::vector<engine::Thread> writers;
    for (int writer = 0; writer < kWriters; ++writer) {
      writers.emplace_back("writer", [&, writer] {
        WantSharedNames(Url(writer), created);
        WriteHereReadThere(Url(writer), Url(writer + 1), writer);
      });
    }
  }
  for (const std::atomic<int>& winners : created) {
    EXPECT_EQ(winners, 1);
  }
  std::vector<State> states;
  for (const auto& server : servers_) {
    HttpClient client(server->url());
    ASSERT_OK_AND_ASSIGN(State state, ReadState(client));
    states.push_back(std::move(state));
  }
  constexpr std::size_t kInAll = kSharedNames + kWriters * kOwnClusters;
  EXPECT_EQ(states.front().contents.size(), kInAll);
  for (const State& state : states) {
    EXPECT_EQ(state.digests, states.front().digests);
    EXPECT_EQ(state.contents, states.front().contents);
  }
  // Density of positions and transactions, digests and the audit's cover are checked in here.
  EXPECT_OK(AgreesWithTools(*store_, states.front().digests));
}

// A child's record and its parent's deletion are one transaction: no list may show half of it.
TEST_P(OrderTest, NoViewShowsPartOfATransaction) {
  std::atomic<bool> done = false;
  engine::Thread writer("writer", [&] {
    HttpClient client(Url(0));
    for (int i = 0; i < 30; ++i) {
      const auto cluster = client.Post(kClusters, ClusterBody(absl::StrFormat("c-%d", i), i));
      ASSERT_OK(cluster);
      const std::string id = Text(cluster->body, "id");
      ASSERT_OK(client.Post(NodePoolsOf(id), NodePoolBody("pool", 1)));
      ASSERT_OK(client.Delete(std::string(kClusters) + "/" + id));
    }
    done = true;
  });
  HttpClient client(Url(1));
  while (!done) {
    const auto list = client.Get("/api/hyperfleet/v1/resources?size=100");
    ASSERT_OK(list);
    ASSERT_EQ(list->status, 200);
    std::map<std::string, bool> deleting;
    const boost::json::value document = boost::json::parse(list->body);
    for (const auto& item : document.at("items").as_array()) {
      deleting[std::string(item.at("id").as_string())] = item.as_object().contains("deleted_time");
    }
    for (const auto& item : document.at("items").as_array()) {
      if (const auto* owner = item.as_object().if_contains("owner_references")) {
        const std::string id(owner->at("id").as_string());
        ASSERT_TRUE(deleting.contains(id)) << "a pool without its cluster";
        EXPECT_EQ(item.as_object().contains("deleted_time"), deleting.at(id));
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Servers, OrderTest, testing::Values(2, 3),
                         [](const auto& info) { return std::to_string(info.param); });

}  // namespace
}  // namespace e2e
