// A primary that acknowledges nothing without its standby, and servers that demand that: the
// standby goes away, or is promoted while the primary and a server are stopped.

#include <csignal>
#include <filesystem>
#include <fstream>

#include <absl/strings/str_format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/nemesis/crowd.h"
#include "tests/nemesis/replicas.h"
#include "tests/support/poll.h"
#include "tests/support/status_matchers.h"

namespace nemesis {
namespace {

using support::PostgresCluster;
using support::TestStore;
using testing::HasSubstr;

constexpr char kKillList[] = "/api/v1/killswitch";
constexpr int kReaders = 1000;

engine::Deadline Patience() {
  return engine::Deadline::After(std::chrono::minutes(2));
}

bool Becomes(const std::function<bool()>& condition) {
  return support::WaitFor(condition, Patience(), std::chrono::milliseconds(20));
}

std::vector<pid_t> ChildrenOf(pid_t parent) {
  std::vector<pid_t> children;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    std::ifstream file(entry.path() / "stat");
    std::string stat;
    std::getline(file, stat);
    // The name is in parentheses and can have anything in it; then come state and parent.
    const std::size_t name_end = stat.rfind(") ");
    if (pid > 0 && name_end != std::string::npos &&
        std::atoi(stat.c_str() + name_end + sizeof(") S")) == parent) {
      children.push_back(pid);
    }
  }
  return children;
}

// The postmaster first, so that it starts nobody, and the sessions after it.
void SignalAll(pid_t postmaster, int signal) {
  kill(postmaster, signal);
  for (const pid_t child : ChildrenOf(postmaster)) {
    kill(child, signal);
  }
}

// A primary that waits for a standby called `two`, and two servers that know both.
class SynchronousStandbyTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(primary_, PostgresCluster::Start());
    ASSERT_OK_AND_ASSIGN(standby_, PostgresCluster::StartStandby(*primary_, "two"));
    ASSERT_OK(primary_->Set("synchronous_standby_names", "two"));
    primary_->Reload();
    ASSERT_TRUE(Becomes([&] {
      return support::SqlValue(primary_->Url("postgres"),
                               "select sync_state from pg_stat_replication")
                 .value_or("") == "sync";
    }));
    ASSERT_OK_AND_ASSIGN(store_, TestStore::OnCluster(*primary_, [this](const std::string& name) {
                           return absl::StrFormat(
                               "postgresql:///%s?host=%s,%s&port=%d,%d&user=postgres", name,
                               primary_->socket_directory(), standby_->socket_directory(),
                               primary_->port(), standby_->port());
                         }));
  }
  void Serve(std::vector<std::string> flags) {
    flags.insert(flags.end(), {"--database-request-timeout", "4s"});
    auto replicas = Replicas::Start(*store_, 2, flags);
    ASSERT_OK(replicas);
    replicas_ = std::make_unique<Replicas>(*std::move(replicas));
  }

  std::unique_ptr<PostgresCluster> primary_;
  std::unique_ptr<PostgresCluster> standby_;
  std::unique_ptr<TestStore> store_;
  std::unique_ptr<Replicas> replicas_;
};

// What docs/operations.md says of it.
TEST_F(SynchronousStandbyTest, WithoutTheStandbyNothingIsAcknowledgedAndAllIsReadUntilItIsBack) {
  ASSERT_NO_FATAL_FAILURE(Serve({"--require-synchronous"}));
  ASSERT_TRUE(replicas_->Kill(0, "kept"));
  standby_->Kill();
  ASSERT_OK_AND_ASSIGN(const support::HttpResponse unknown, replicas_->TryKill(0, "perhaps"));
  EXPECT_EQ(unknown.status, 503);
  EXPECT_THAT(unknown.body, HasSubstr(R"("outcome":"unknown")"));
  ASSERT_OK_AND_ASSIGN(const support::HttpResponse none, replicas_->TryKill(1, "behind"));
  EXPECT_EQ(none.status, 503);
  EXPECT_THAT(none.body, HasSubstr(R"("outcome":"none")"));
  for (std::size_t i = 0; i < replicas_->size(); ++i) {
    EXPECT_TRUE(Becomes([&] {
      const auto ready = replicas_->Get(i, "/readyz");
      return ready.ok() && ready->status == 503 &&
             ready->body.find("synchronous standby that does not answer") != std::string::npos;
    })) << replicas_->Get(i, "/readyz")->body;
    EXPECT_FALSE(replicas_->Killed(i).ok()) << "nothing is proven";
    ASSERT_OK_AND_ASSIGN(const auto resources, replicas_->Get(i, "/api/hyperfleet/v1/clusters"));
    EXPECT_EQ(resources.status, 200) << resources.body;
  }
  ASSERT_OK(standby_->StartAgain());
  ASSERT_TRUE(replicas_->WaitUntilReady());
  EXPECT_TRUE(replicas_->Kill(1, "later"));
  ASSERT_OK_AND_ASSIGN(const Names killed, replicas_->Killed(0));
  EXPECT_TRUE(killed.contains("kept") && killed.contains("later"));
  EXPECT_FALSE(killed.contains("behind"));
}

// An administrator takes the names away under open connections: what is written from then on could
// be lost, so nothing is.
TEST_F(SynchronousStandbyTest, AServerThatDemandsAStandbyWritesNothingWhileThereAreNoNames) {
  ASSERT_NO_FATAL_FAILURE(Serve({"--require-synchronous"}));
  ASSERT_TRUE(replicas_->Kill(0, "kept"));
  ASSERT_OK(primary_->Set("synchronous_standby_names", ""));
  primary_->Reload();
  for (std::size_t i = 0; i < replicas_->size(); ++i) {
    ASSERT_TRUE(Becomes([&] {
      const auto refused = replicas_->TryKill(i, "perhaps");
      return refused.ok() && refused->status == 503;
    }));
    ASSERT_OK_AND_ASSIGN(const support::HttpResponse refused, replicas_->TryKill(i, "never"));
    EXPECT_EQ(refused.status, 503);
    EXPECT_THAT(refused.body, HasSubstr(R"("outcome":"none")"));
    EXPECT_THAT(refused.body, HasSubstr("wait for no synchronous standby"));
    EXPECT_TRUE(Becomes([&] {
      const auto ready = replicas_->Get(i, "/readyz");
      return ready.ok() && ready->status == 503 &&
             ready->body.find("synchronous") != std::string::npos;
    }));
    EXPECT_TRUE(Becomes([&] { return !replicas_->Killed(i).ok(); })) << "nothing is proven";
  }
  ASSERT_OK(primary_->Set("synchronous_standby_names", "two"));
  primary_->Reload();
  ASSERT_TRUE(replicas_->WaitUntilReady());
  EXPECT_TRUE(replicas_->Kill(1, "later"));
  ASSERT_OK_AND_ASSIGN(const Names killed, replicas_->Killed(0));
  EXPECT_TRUE(killed.contains("kept") && killed.contains("later"));
  EXPECT_FALSE(killed.contains("never"));
}

// Primary and server are stopped together, so that neither finds out that the other was away: when
// they wake up, each is all right with the other, and both are wrong.
TEST_F(SynchronousStandbyTest, AServerThatWakesUpWithItsOldPrimaryTellsNobodyWhatWasTrueBefore) {
  ASSERT_NO_FATAL_FAILURE(Serve({}));  // The promoted standby has no standby of its own.
  ASSERT_TRUE(replicas_->Kill(1, "before"));
  ASSERT_OK(replicas_->Killed(0));
  replicas_->process(0).Signal(SIGSTOP);
  SignalAll(primary_->postmaster_pid(), SIGSTOP);
  ASSERT_OK(standby_->Set("synchronous_standby_names", ""));
  ASSERT_OK(standby_->Promote());
  ASSERT_TRUE(Becomes([&] { return replicas_->Kill(1, "revoked"); }));
  Crowd crowd(replicas_->url(0), kKillList, support::HaloServer::Admin(), kReaders);
  SignalAll(primary_->postmaster_pid(), SIGCONT);
  replicas_->process(0).Signal(SIGCONT);
  ToldOf("revoked", crowd.Wait(Patience()));
  primary_->Kill();
  ASSERT_TRUE(Becomes([&] { return replicas_->Killed(0).ok(); }));
  Crowd later(replicas_->url(0), kKillList, support::HaloServer::Admin(), kReaders);
  EXPECT_GT(ToldOf("revoked", later.Wait(Patience())), kReaders / 2);
}

// The standby is stopped: no commit is acknowledged, so nothing is proven, and what was read
// before does not count.
TEST_F(SynchronousStandbyTest, AStandbyThatIsStoppedLeavesNothingProven) {
  ASSERT_NO_FATAL_FAILURE(Serve({"--require-synchronous"}));
  ASSERT_TRUE(replicas_->Kill(1, "revoked"));
  SignalAll(standby_->postmaster_pid(), SIGSTOP);
  ASSERT_TRUE(Becomes([&] { return !replicas_->Killed(0).ok(); }));
  Crowd crowd(replicas_->url(0), kKillList, support::HaloServer::Admin(), kReaders);
  EXPECT_EQ(ToldOf("revoked", crowd.Wait(Patience())), 0);
  SignalAll(standby_->postmaster_pid(), SIGCONT);
  ASSERT_TRUE(replicas_->WaitUntilReady());
  Crowd later(replicas_->url(0), kKillList, support::HaloServer::Admin(), kReaders);
  EXPECT_GT(ToldOf("revoked", later.Wait(Patience())), kReaders / 2);
}

}  // namespace
}  // namespace nemesis
