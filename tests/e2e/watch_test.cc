// Watches over server processes that die and come back: what was acknowledged anywhere is shown
// once, in its order, and to nobody else.

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <absl/strings/str_format.h>
#include <boost/json.hpp>
#include <gmock/gmock.h>

#include "engine/base/mutex.h"
#include "engine/base/thread.h"
#include "tests/e2e/fleet.h"
#include "tests/e2e/watcher.h"
#include "tests/support/halo_server.h"
#include "tests/support/status_matchers.h"

namespace e2e {
namespace {

using support::HaloServer;
using support::HttpClient;
using support::HttpHeaders;
using support::HttpResponse;
using support::TestStore;
using testing::Contains;
using testing::ElementsAreArray;
using testing::Ge;
using testing::IsEmpty;

constexpr char kChannels[] = "/api/hyperfleet/v1/channels";
constexpr int kWriters = 16;
constexpr int kChannelsEach = 5;  // Of a writer in a round.
constexpr int kChangesEach = 3;
constexpr std::size_t kInARound = std::size_t{kWriters} * kChannelsEach * kChangesEach;
// In all but the last the watched server goes away and comes back.
constexpr std::size_t kRounds = 4;
constexpr std::size_t kInAll = kRounds * kInARound;

engine::Deadline InTime() {
  return engine::Deadline::After(std::chrono::minutes(3));
}

// What somebody was told: `ID create`, `ID patch`, `ID remove`, in the order of each id.
using Changes = std::vector<std::string>;

std::string ChangeOf(const WatchEvent& event) {
  return Text(event.data, "key") + " " + Text(event.data, "action");
}

Changes Sorted(Changes changes) {
  std::ranges::sort(changes);
  return changes;
}

// Whether the changes of each id come in the order in which they were acknowledged.
std::vector<std::string> OutOfOrder(const Changes& changes) {
  const std::map<std::string, int> place = {{"create", 0}, {"patch", 1}, {"remove", 2}};
  std::map<std::string, int> next;
  std::vector<std::string> wrong;
  for (const std::string& change : changes) {
    const std::size_t space = change.find(' ');
    const auto found = place.find(change.substr(space + 1));
    if (found == place.end() || found->second != next[change.substr(0, space)]++) {
      wrong.push_back(change);
    }
  }
  return wrong;
}

class WatchE2eTest : public testing::Test {
 protected:
  void Start(const std::vector<std::string>& flags = {}) {
    flags_ = flags;
    ASSERT_OK_AND_ASSIGN(store_, TestStore::OnPostgres());
    ASSERT_OK_AND_ASSIGN(writers_server_, HaloServer::Start(*store_, flags_));
    StartWatched();
  }

  void StartWatched() {
    ASSERT_OK_AND_ASSIGN(watched_, HaloServer::Start(*store_, flags_));
    engine::MutexLock lock(mutex_);
    watched_url_ = watched_->url();
  }

  // Where a watcher connects next: the server that dies, or both in turn.
  std::function<std::string()> OfWatched() {
    return [this] {
      engine::MutexLock lock(mutex_);
      return watched_url_;
    };
  }
  std::function<std::string()> OfBoth() {
    return [this, turn = 0]() mutable {
      engine::MutexLock lock(mutex_);
      return ++turn % 2 == 1 ? watched_url_ : writers_server_->url();
    };
  }

  // Makes, changes and removes channels, and keeps what was acknowledged.
  void Write(int writer, std::size_t round, const HttpHeaders& headers, Changes& acknowledged) {
    HttpClient client(writers_server_->url());
    const auto change = [&](const std::string& method, const std::string& path,
                            const std::string& body, int status) {
      const auto answer = client.Call(
          {.method = method, .path = kChannels + path, .body = body, .headers = headers});
      EXPECT_OK(answer);
      EXPECT_EQ(answer.value_or(HttpResponse{}).status, status) << answer->body;
      return answer.ok() ? Text(answer->body, "id") : "";
    };
    for (int i = 0; i < kChannelsEach && !HasFailure(); ++i) {
      const std::string id = change(
          "POST", "",
          absl::StrFormat(R"({"kind":"Channel","name":"c-%d-%d-%d","spec":{}})", writer, round, i),
          201);
      change("PATCH", "/" + id, R"({"spec":{"revision":2}})", 200);
      change("DELETE", "/" + id, "", 202);
      engine::MutexLock lock(mutex_);
      for (const char* const what : {" create", " patch", " remove"}) {
        acknowledged.push_back(id + what);
      }
    }
  }

  // Lets all write in rounds, of each of which `watcher` is shown `shown`. While it gets them, the
  // server that it watches is killed (once: asked to stop) and another one started.
  void WriteAndKill(const Watcher& watcher, std::size_t shown,
                    const std::function<void(int writer, std::size_t round)>& write) {
    for (std::size_t round = 0; round < kRounds; ++round) {
      std::vector<engine::Thread> writers;
      for (int writer = 0; writer < kWriters; ++writer) {
        writers.emplace_back("writer", [&write, writer, round] { write(writer, round); });
      }
      EXPECT_TRUE(watcher.WaitForRecords(round * shown + shown / 6, InTime()));
      if (round + 1 == kRounds) {
        continue;
      }
      if (round == 1) {
        EXPECT_OK(watched_->Stop());
      } else {
        watched_->Kill();
      }
      StartWatched();
    }
  }

  std::string CursorOf(const HttpHeaders& headers = {}) {
    const auto list = HttpClient(writers_server_->url()).Get(kChannels, headers);
    EXPECT_OK(list);
    return list.ok() ? list->Header("x-halo-cursor") : "";
  }

  std::vector<std::string> flags_;
  std::unique_ptr<TestStore> store_;
  std::unique_ptr<HaloServer> writers_server_;
  std::unique_ptr<HaloServer> watched_;
  engine::Mutex mutex_;
  std::string watched_url_ ABSL_GUARDED_BY(mutex_);
};

TEST_F(WatchE2eTest, NothingIsLostOrDoubledWhileTheServerDies) {
  ASSERT_NO_FATAL_FAILURE(Start());
  const std::string query = "streams=resources&cursor=" + CursorOf();
  Watcher watcher({.url = OfWatched(), .query = query, .headers = HaloServer::Admin()});
  Watcher wanderer({.url = OfBoth(), .query = query, .headers = HaloServer::Admin()});
  Changes acknowledged;
  WriteAndKill(watcher, kInARound,
               [&](int writer, std::size_t round) { Write(writer, round, {}, acknowledged); });
  for (const Watcher* each : {&watcher, &wanderer}) {
    EXPECT_TRUE(each->WaitForRecords(kInAll, InTime()));
    Changes seen;
    std::vector<std::string> positions;
    std::vector<std::string> expected;
    for (const WatchEvent& record : each->records()) {
      seen.push_back(ChangeOf(record));
      positions.push_back(Member(record.data, "position"));
      expected.push_back(std::to_string(expected.size() + 1));
    }
    EXPECT_THAT(positions, ElementsAreArray(expected));
    EXPECT_THAT(OutOfOrder(seen), IsEmpty());
    EXPECT_EQ(Sorted(seen), Sorted(acknowledged));
  }
  EXPECT_THAT(watcher.streams(), Ge(static_cast<int>(kRounds)));
  EXPECT_THAT(watcher.notices(), Contains("end")) << "of the server that was asked to stop";
}

TEST_F(WatchE2eTest, ATenantIsShownItsOwnWhileTheServerDies) {
  ASSERT_OK_AND_ASSIGN(const auto directory, support::PrivateDirectory::Make());
  ASSERT_OK_AND_ASSIGN(
      const std::string config,
      directory->Write("config.yaml",
                       "server:\n"
                       "  jwt: {enabled: false}\n"
                       "  tenant:\n"
                       "    enabled: true\n"
                       "    system_header: X-HyperFleet-System\n"
                       "    dimensions: [{header: X-HyperFleet-Org, key: org, required: true}]\n"));
  ASSERT_NO_FATAL_FAILURE(Start({"--config", config}));
  const std::map<std::string, HttpHeaders> tenants = {{"acme", {{"X-HyperFleet-Org", "acme"}}},
                                                      {"other", {{"X-HyperFleet-Org", "other"}}}};
  std::map<std::string, std::unique_ptr<Watcher>> watchers;
  std::map<std::string, Changes> acknowledged;
  for (const auto& [tenant, headers] : tenants) {
    const std::string query = "cursor=" + CursorOf(headers);
    watchers[tenant] = std::make_unique<Watcher>(
        WatcherOptions{.url = OfWatched(), .query = query, .headers = headers});
    acknowledged[tenant];
  }
  Watcher system({.url = OfBoth(),
                  .query = "cursor=" + CursorOf({{"X-HyperFleet-System", "true"}}),
                  .headers = {{"X-HyperFleet-System", "true"}}});
  WriteAndKill(*watchers.at("acme"), kInARound / 2, [&](int writer, std::size_t round) {
    const std::string tenant = writer % 2 == 0 ? "acme" : "other";
    Write(writer, round, tenants.at(tenant), acknowledged.at(tenant));
  });
  EXPECT_TRUE(system.WaitForRecords(kInAll, InTime()));
  for (const auto& [tenant, watcher] : watchers) {
    EXPECT_TRUE(watcher->WaitForRecords(kInAll / 2, InTime()));
    Changes seen;
    for (const WatchEvent& record : watcher->records()) {
      seen.push_back(ChangeOf(record));
      EXPECT_EQ(Member(record.data, "position"), "") << "how much others do is not a tenant's";
    }
    EXPECT_THAT(OutOfOrder(seen), IsEmpty());
    EXPECT_EQ(Sorted(seen), Sorted(acknowledged.at(tenant)));
  }
  EXPECT_EQ(system.records().size(), kInAll);
}

}  // namespace
}  // namespace e2e
