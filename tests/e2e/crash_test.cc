// kill -9 at random moments: nothing acknowledged is lost, nothing refused appears, audit and
// records agree. HALO_CRASH_ROUNDS sets the number of kills, 10 by default.

#include <atomic>
#include <cstdlib>

#include <absl/strings/str_format.h>
#include <gtest/gtest.h>

#include "engine/base/mutex.h"
#include "engine/base/thread.h"
#include "tests/e2e/fleet.h"
#include "tests/e2e/state.h"
#include "tests/support/halo_server.h"
#include "tests/support/seeded_random.h"
#include "tests/support/status_matchers.h"

namespace e2e {
namespace {

using support::HaloServer;
using support::HttpClient;
using support::TestStore;

int Rounds() {
  const char* const rounds = std::getenv("HALO_CRASH_ROUNDS");
  return rounds == nullptr ? 10 : std::atoi(rounds);
}

// What clients know of each cluster name.
enum class Fate { kCreated, kRefused, kUnknown };

struct Known {
  engine::Mutex mutex;
  engine::CondVar grown;
  std::map<std::string, Fate> fates ABSL_GUARDED_BY(mutex);

  void Add(const std::string& name, Fate fate) {
    engine::MutexLock lock(mutex);
    fates[name] = fate;
    grown.SignalAll();
  }
  // Blocks until `count` fates are known.
  void WaitFor(std::size_t count) {
    engine::MutexLock lock(mutex);
    const engine::Deadline deadline = engine::Deadline::After(std::chrono::seconds(30));
    while (fates.size() < count && grown.WaitUntil(mutex, deadline)) {
    }
  }
};

// Creates clusters until the server is gone.
void CreateUntilKilled(const std::string& url, const std::string& prefix, Known& known) {
  HttpClient client(url);
  for (int i = 0;; ++i) {
    const std::string name = absl::StrFormat("%s-%d", prefix, i);
    const auto response = client.Post(kClusters, ClusterBody(name, i));
    if (!response.ok()) {
      // Not even sent, or sent without an answer: then it may have happened.
      known.Add(name, absl::IsUnavailable(response.status()) ? Fate::kRefused : Fate::kUnknown);
      return;
    }
    known.Add(name, response->status == 201 ? Fate::kCreated : Fate::kRefused);
  }
}

void KillDuringWrites(const TestStore& store, int round, engine::Random& random, Known& known) {
  ASSERT_OK_AND_ASSIGN(const auto server, HaloServer::Start(store));
  constexpr int kWriters = 8;
  std::size_t before = 0;
  {
    engine::MutexLock lock(known.mutex);
    before = known.fates.size();
  }
  std::vector<engine::Thread> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.emplace_back("writer", [&, writer] {
      CreateUntilKilled(server->url(), absl::StrFormat("r%d-w%d", round, writer), known);
    });
  }
  known.WaitFor(before + 20 + random.Below(200));
  server->Kill();
}

void ExpectNothingLost(const TestStore& store, Known& known) {
  ASSERT_OK_AND_ASSIGN(const Digests replayed, ReplayedDigests(store.flags()));
  ASSERT_OK_AND_ASSIGN(const auto server, HaloServer::Start(store));
  HttpClient client(server->url());
  ASSERT_OK_AND_ASSIGN(const State state, ReadState(client));
  EXPECT_EQ(state.digests, replayed);
  std::size_t created = 0;
  engine::MutexLock lock(known.mutex);
  for (const auto& [name, fate] : known.fates) {
    const bool there = state.contents.contains("Cluster//" + name + "/active");
    EXPECT_FALSE(fate == Fate::kCreated && !there) << name << " was acknowledged and is lost";
    EXPECT_FALSE(fate == Fate::kRefused && there) << name << " was refused and is there";
    created += there ? 1 : 0;
  }
  EXPECT_EQ(state.contents.size(), created);
  EXPECT_EQ(state.digests.at("audit").substr(0, state.digests.at("audit").find(' ')),
            std::to_string(created))
      << "one audit entry a cluster";
  EXPECT_OK(server->Stop());
}

void CrashRepeatedly(const TestStore& store) {
  support::SeededRandom random;
  Known known;
  for (int round = 0; round < Rounds() && !testing::Test::HasFailure(); ++round) {
    KillDuringWrites(store, round, random, known);
  }
  ExpectNothingLost(store, known);
}

TEST(CrashTest, OnFilesLosesNothingAcknowledged) {
  ASSERT_OK_AND_ASSIGN(const auto store, TestStore::OnFiles());
  CrashRepeatedly(*store);
}

TEST(CrashTest, OnPostgresLosesNothingAcknowledged) {
  ASSERT_OK_AND_ASSIGN(const auto store, TestStore::OnPostgres());
  CrashRepeatedly(*store);
}

}  // namespace
}  // namespace e2e
