// A thousand cuts around COMMIT, with retries under one key: each thing is done exactly once, and
// everyone who asks for it is told the same.
//
// Two real servers reach one real Postgres through a proxy that cuts their connections at the
// COMMIT: before the server gets it, so that nothing happens, or after, so that nobody is told.
// Clients send each request with a key of its own, to one server, to the other, to both at once,
// and again until one of them says that it is done.

#include <atomic>
#include <fstream>
#include <future>
#include <map>
#include <optional>

#include <absl/strings/str_format.h>
#include <gtest/gtest.h>

#include "engine/base/mutex.h"
#include "engine/base/status_macros.h"
#include "engine/base/thread.h"
#include "tests/support/fault_proxy.h"
#include "tests/support/halo_server.h"
#include "tests/support/seeded_random.h"
#include "tests/support/status_matchers.h"

namespace nemesis {
namespace {

using engine::Deadline;
using support::FaultProxy;
using support::HaloServer;
using support::HttpClient;
using support::HttpHeaders;
using support::HttpResponse;
using support::TestStore;

constexpr char kConfigs[] = "/api/hyperfleet/v1/wifconfigs";
constexpr int kClients = 4;

// One thing that a client wants done once.
struct Wish {
  std::string name;
  std::string key;
  std::string answer = {};  // The first that said that it is done.
};

std::string BodyOf(const Wish& wish) {
  return absl::StrFormat(R"({"kind":"WifConfig","name":"%s","spec":{"wish":"%s"}})", wish.name,
                         wish.key);
}

class CommitCutsTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(store_, TestStore::OnPostgres());
    const support::PostgresCluster& cluster = support::SharedCluster();
    ASSERT_OK_AND_ASSIGN(proxy_, FaultProxy::Start(cluster.socket_directory(), cluster.port()));
    // The file that the servers read their URL from.
    std::ofstream(store_->flags()[1]) << proxy_->Through(store_->url());
    for (int i = 0; i < 2; ++i) {
      ASSERT_OK_AND_ASSIGN(auto server, HaloServer::Start(*store_));
      servers_.push_back(std::move(server));
    }
  }

  // Sends the wish until somebody says that it is done.
  void Insist(Wish& wish, int first_server, HttpClient (&clients)[2], bool twins) {
    const Deadline deadline = Deadline::After(std::chrono::minutes(2));
    for (int attempt = 0; !deadline.HasPassed(); ++attempt) {
      HttpClient& client = clients[(first_server + attempt) % 2];
      HttpClient& other = clients[(first_server + attempt + 1) % 2];
      std::future<std::optional<std::string>> twin;
      if (twins) {
        twin = std::async(std::launch::async, [&] { return Ask(other, wish); });
      }
      const std::optional<std::string> answer = Ask(client, wish);
      const std::optional<std::string> twins_answer = twins ? twin.get() : std::nullopt;
      if (answer && twins_answer) {
        EXPECT_EQ(*answer, *twins_answer) << "twins were told different things";
      }
      if (answer || twins_answer) {
        wish.answer = answer ? *answer : *twins_answer;
        return;
      }
    }
    ADD_FAILURE() << wish.name << " was never done";
  }

  // The answer that it is done; empty when that is not known.
  std::optional<std::string> Ask(HttpClient& client, const Wish& wish) {
    const auto response = client.Post(kConfigs, BodyOf(wish), {{"Idempotency-Key", wish.key}});
    if (!response.ok()) {
      ADD_FAILURE() << response.status();
      return std::nullopt;
    }
    if (response->status == 201) {
      replayed_ += response->Header("idempotent-replayed").empty() ? 0 : 1;
      return response->Header("etag") + response->body;
    }
    // Anything else than "try again" would be wrong; 409 above all: done twice.
    EXPECT_EQ(response->status, 503) << response->body;
    if (response->body.find(R"("outcome":"unknown")") != std::string::npos) {
      ++unknown_;
    } else {
      EXPECT_NE(response->body.find(R"("outcome":"none")"), std::string::npos) << response->body;
    }
    return std::nullopt;
  }

  void RunClient(int number, int cuts) {
    HttpClient clients[2] = {HttpClient(servers_[0]->url()), HttpClient(servers_[1]->url())};
    for (int i = 0; proxy_->cuts() < cuts; ++i) {
      Wish wish{.name = absl::StrFormat("wish-%d-%d", number, i),
                .key = absl::StrFormat("key-%d-%d", number, i)};
      std::uint64_t dice = 0;
      {
        engine::MutexLock lock(mutex_);
        dice = random_.NextU64() % 8;
      }
      proxy_->CutNextCommit(dice % 2 == 0 ? FaultProxy::Cut::kBefore : FaultProxy::Cut::kAfter);
      Insist(wish, static_cast<int>(dice / 2 % 2), clients, dice >= 6);
      engine::MutexLock lock(mutex_);
      done_.push_back(wish);
    }
  }

  // Whatever is sent again now, to whichever server, is told the same, and does nothing.
  void ExpectSameAnswers(const std::vector<Wish>& done) {
    HttpClient clients[2] = {HttpClient(servers_[0]->url()), HttpClient(servers_[1]->url())};
    for (std::size_t i = 0; i < done.size(); i += 1 + done.size() / 200) {
      for (HttpClient& client : clients) {
        EXPECT_EQ(Ask(client, done[i]), done[i].answer) << done[i].name;
      }
    }
  }

  std::string Count(const std::string& what) {
    const auto value = support::SqlValue(store_->owner_url(), "select count(*) from " + what);
    EXPECT_OK(value);
    return value.value_or("");
  }

  std::unique_ptr<TestStore> store_;
  std::unique_ptr<FaultProxy> proxy_;
  std::vector<std::unique_ptr<HaloServer>> servers_;
  engine::Mutex mutex_;
  support::SeededRandom random_ ABSL_GUARDED_BY(mutex_);
  std::vector<Wish> done_ ABSL_GUARDED_BY(mutex_);
  std::atomic<int> replayed_ = 0;
  std::atomic<int> unknown_ = 0;
};

TEST_F(CommitCutsTest, AThousandCutsAroundCommitAndEachThingIsDoneExactlyOnce) {
  constexpr int kCuts = 1000;
  {
    std::vector<engine::Thread> clients;
    for (int number = 0; number < kClients; ++number) {
      clients.emplace_back("client", [this, number] { RunClient(number, kCuts); });
    }
  }
  EXPECT_GE(proxy_->cuts(), kCuts);
  EXPECT_GT(replayed_.load(), 0);
  engine::MutexLock lock(mutex_);
  ExpectSameAnswers(done_);
  const std::string wishes = std::to_string(done_.size());
  EXPECT_EQ(Count("halo_journal where stream_id = 3"), wishes) << "one record for each";
  EXPECT_EQ(Count("halo_journal where stream_id = 1"), wishes) << "and one audit entry";
  EXPECT_EQ(Count("halo_idempotency"), wishes) << "and one answer";
  RecordProperty("wishes", wishes);
  RecordProperty("replayed", replayed_.load());
  RecordProperty("unknown", unknown_.load());
}

}  // namespace
}  // namespace nemesis
