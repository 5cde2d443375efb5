// The database server crashes, is replaced by a standby, or is put back to an earlier point, under
// running replicas and load.

#include <absl/strings/str_format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/nemesis/replicas.h"
#include "tests/support/poll.h"
#include "tests/support/status_matchers.h"

namespace nemesis {
namespace {

using support::PostgresCluster;
using support::TestStore;
using testing::IsEmpty;

constexpr int kWriters = 4;

engine::Deadline Patience() {
  return engine::Deadline::After(std::chrono::minutes(1));
}

class FailoverTest : public testing::Test {
 protected:
  // A primary, perhaps with a standby called `two`, and two replicas that know both.
  void Open(bool with_standby) {
    ASSERT_OK_AND_ASSIGN(primary_, PostgresCluster::Start());
    if (with_standby) {
      ASSERT_OK_AND_ASSIGN(standby_, PostgresCluster::StartStandby(*primary_, "two"));
    }
    Serve();
  }
  void Serve() {
    const auto url = [this](const std::string& database) { return Url(database); };
    ASSERT_OK_AND_ASSIGN(store_, TestStore::OnCluster(*primary_, url));
    auto replicas = Replicas::Start(*store_, 2);
    ASSERT_OK(replicas);
    replicas_ = std::make_unique<Replicas>(*std::move(replicas));
  }
  std::string Url(const std::string& database) const {
    if (standby_ == nullptr) {
      return primary_->Url(database);
    }
    return absl::StrFormat("postgresql:///%s?host=%s,%s&port=%d,%d&user=postgres", database,
                           primary_->socket_directory(), standby_->socket_directory(),
                           primary_->port(), standby_->port());
  }
  bool Becomes(const std::function<bool()>& condition) {
    return support::WaitFor(condition, Patience(), std::chrono::milliseconds(20));
  }
  void ExpectAllThere(const Names& acknowledged) {
    for (std::size_t i = 0; i < replicas_->size(); ++i) {
      ASSERT_TRUE(Becomes([&] { return replicas_->Killed(i).ok(); }));
      ASSERT_OK_AND_ASSIGN(const Names killed, replicas_->Killed(i));
      EXPECT_THAT(Missing(acknowledged, killed), IsEmpty()) << "replica " << i;
      EXPECT_EQ(replicas_->Metric(i, "halo_history_changes_total"), 0) << "replica " << i;
    }
  }
  // What `halo replay` makes of the journal, and what the replicas say: the same.
  void ExpectAllEqualAFreshOne() {
    std::vector<std::string> args = {"replay", "--stream", "killswitch", "--output", "json"};
    args.insert(args.end(), store_->flags().begin(), store_->flags().end());
    ASSERT_OK_AND_ASSIGN(const support::Finished replay, support::RunHalo(args));
    ASSERT_EQ(replay.exit.code, 0) << replay.err;
    for (std::size_t i = 0; i < replicas_->size(); ++i) {
      ASSERT_OK_AND_ASSIGN(const auto streams, replicas_->Get(i, "/api/v1/streams"));
      const std::size_t kill = streams.body.find("\"killswitch\"");
      const std::size_t digest = streams.body.find("\"state_digest\":\"", kill);
      ASSERT_NE(digest, std::string::npos) << streams.body;
      EXPECT_THAT(replay.out, testing::HasSubstr(streams.body.substr(digest + 16, 16)));
    }
  }

  std::unique_ptr<PostgresCluster> primary_;
  std::unique_ptr<PostgresCluster> standby_;
  std::unique_ptr<TestStore> store_;
  std::unique_ptr<Replicas> replicas_;
};

TEST_F(FailoverTest, AServerThatCrashesAndComesBackLosesNothingAndNothingIsRebuilt) {
  ASSERT_NO_FATAL_FAILURE(Open(false));
  ASSERT_OK_AND_ASSIGN(const std::string epoch, replicas_->Epoch(0));
  Load load(*replicas_, kWriters, "crash");
  ASSERT_TRUE(load.WaitForMore(50));
  ASSERT_OK(primary_->Stop(support::StopMode::kImmediate));
  ASSERT_OK(primary_->StartAgain());
  ASSERT_TRUE(load.WaitForMore(50));
  load.Stop();
  ExpectAllThere(load.acknowledged());
  ASSERT_OK_AND_ASSIGN(const std::string later, replicas_->Epoch(0));
  EXPECT_LT(std::stoull(epoch), std::stoull(later));
  EXPECT_EQ(replicas_->Epoch(1).value_or(""), later);
}

TEST_F(FailoverTest, ASynchronousStandbyThatIsPromotedHasEverythingAndNothingIsRebuilt) {
  ASSERT_NO_FATAL_FAILURE(Open(true));
  ASSERT_OK(primary_->Set("synchronous_standby_names", "two"));
  primary_->Reload();
  ASSERT_TRUE(Becomes([&] {
    return support::SqlValue(primary_->Url("postgres"),
                             "select sync_state from pg_stat_replication")
               .value_or("") == "sync";
  }));
  Load load(*replicas_, kWriters, "sync");
  ASSERT_TRUE(load.WaitForMore(50));
  primary_->Kill();
  ASSERT_OK(standby_->Promote());
  ASSERT_TRUE(load.WaitForMore(50));
  load.Stop();
  ExpectAllThere(load.acknowledged());
  ASSERT_NO_FATAL_FAILURE(ExpectAllEqualAFreshOne());
}

TEST_F(FailoverTest, ALaggingStandbyThatIsPromotedIsNoticedAndWhatItLostIsServedNowhere) {
  ASSERT_NO_FATAL_FAILURE(Open(true));
  ASSERT_TRUE(replicas_->Kill(0, "kept"));
  ASSERT_TRUE(Becomes([&] {
    return support::SqlValue(primary_->Url("postgres"),
                             "select replay_lsn = pg_current_wal_lsn() from pg_stat_replication")
               .value_or("") == "t";
  }));
  ASSERT_OK(standby_->Set("primary_conninfo", ""));
  standby_->Reload();
  ASSERT_TRUE(Becomes([&] {
    return support::SqlValue(primary_->Url("postgres"), "select count(*) from pg_stat_replication")
               .value_or("") == "0";
  }));
  ASSERT_TRUE(replicas_->Kill(0, "lost-0"));
  ASSERT_TRUE(replicas_->Kill(1, "lost-1"));
  ASSERT_OK_AND_ASSIGN(const Names before, replicas_->Killed(1));
  EXPECT_TRUE(before.contains("lost-0"));
  primary_->Kill();
  ASSERT_OK(standby_->Promote());
  for (std::size_t i = 0; i < replicas_->size(); ++i) {
    ASSERT_TRUE(Becomes([&] { return replicas_->Killed(i).ok(); }));
    ASSERT_OK_AND_ASSIGN(const Names after, replicas_->Killed(i));
    EXPECT_THAT(after, testing::ElementsAre("kept")) << "replica " << i;
    EXPECT_GE(replicas_->Metric(i, "halo_history_changes_total"), 1) << "replica " << i;
    EXPECT_THAT(replicas_->process(i).Stderr(), testing::HasSubstr("history changed"));
  }
  ASSERT_TRUE(replicas_->WaitUntilReady());
  EXPECT_TRUE(replicas_->Kill(1, "new")) << "writers go on with the history that there is";
  ASSERT_NO_FATAL_FAILURE(ExpectAllEqualAFreshOne());
}

TEST_F(FailoverTest, ADatabaseThatIsPutBackIsNoticedAndACopyElsewhereIsTheSame) {
  ASSERT_OK_AND_ASSIGN(primary_, PostgresCluster::Start());
  // Where the copy will be, so that the replicas know the way.
  ASSERT_OK_AND_ASSIGN(standby_, PostgresCluster::Restore(*primary_));
  ASSERT_OK(standby_->Stop(support::StopMode::kFast));
  ASSERT_NO_FATAL_FAILURE(Serve());
  ASSERT_TRUE(replicas_->Kill(0, "kept"));
  ASSERT_OK(standby_->TakeDataOf(*primary_));
  ASSERT_TRUE(replicas_->Kill(0, "lost"));
  for (std::size_t i = 0; i < replicas_->size(); ++i) {
    ASSERT_OK(replicas_->Killed(i));  // Each has seen what will be gone.
  }
  ASSERT_OK(primary_->Stop(support::StopMode::kImmediate));
  ASSERT_OK(standby_->StartAgain());
  for (std::size_t i = 0; i < replicas_->size(); ++i) {
    ASSERT_TRUE(Becomes([&] { return replicas_->Killed(i).ok(); }));
    ASSERT_OK_AND_ASSIGN(const Names after, replicas_->Killed(i));
    EXPECT_THAT(after, testing::ElementsAre("kept")) << "replica " << i;
    EXPECT_GE(replicas_->Metric(i, "halo_history_changes_total"), 1) << "replica " << i;
  }
  ASSERT_NO_FATAL_FAILURE(ExpectAllEqualAFreshOne());
}

TEST_F(FailoverTest, ADumpRestoredIntoANewDatabaseIsTheSameHistory) {
  ASSERT_NO_FATAL_FAILURE(Open(false));
  ASSERT_TRUE(replicas_->Kill(0, "kept"));
  ASSERT_OK_AND_ASSIGN(const std::string copy, primary_->CreateDatabase("copy"));
  const std::string dump = store_->directory().path() + "/dump.sql";
  ASSERT_OK(support::RunToSuccess({.argv = {"pg_dump", "-d", store_->owner_url(), "-f", dump}},
                                  Patience()));
  ASSERT_OK(support::RunToSuccess(
      {.argv = {"psql", "-q", "-v", "ON_ERROR_STOP=1", "-d", copy, "-f", dump}}, Patience()));
  ASSERT_OK_AND_ASSIGN(const std::string file, store_->directory().Write("copy-url", copy));
  std::vector<std::string> args = {"replay", "--compare", file};
  args.insert(args.end(), store_->flags().begin(), store_->flags().end());
  ASSERT_OK_AND_ASSIGN(const support::Finished compared, support::RunHalo(args));
  EXPECT_EQ(compared.exit.code, 0) << compared.err;
  ASSERT_OK_AND_ASSIGN(
      const support::Finished audit,
      support::RunHalo({"audit", "verify", "--database-url-file", file, "--expect-total", "1"}));
  EXPECT_EQ(audit.exit.code, 0) << audit.err;
}

TEST_F(FailoverTest, ALostStoreDeniesWhatHasToBeProvenAndHealsByItself) {
  ASSERT_NO_FATAL_FAILURE(Open(false));
  ASSERT_TRUE(replicas_->Kill(0, "kept"));
  ASSERT_OK(primary_->Stop(support::StopMode::kImmediate));
  ASSERT_OK_AND_ASSIGN(const auto list, replicas_->Get(0, "/api/v1/killswitch"));
  EXPECT_EQ(list.status, 503) << list.body;
  EXPECT_EQ(list.Header("retry-after"), "1");
  ASSERT_OK_AND_ASSIGN(const auto audit, replicas_->Get(0, "/api/v1/audit"));
  EXPECT_THAT(audit.Header("x-halo-stale"), testing::MatchesRegex("[0-9]+")) << audit.body;
  EXPECT_TRUE(Becomes([&] {
    const auto ready = replicas_->Get(0, "/readyz");
    return ready.ok() && ready->status == 503;
  }));
  EXPECT_GE(replicas_->Metric(0, "halo_unproven_reads_total"), 1);
  ASSERT_OK(primary_->StartAgain());
  ASSERT_TRUE(replicas_->WaitUntilReady());
  ASSERT_OK_AND_ASSIGN(const Names healed, replicas_->Killed(0));
  EXPECT_THAT(healed, testing::ElementsAre("kept"));
  EXPECT_EQ(replicas_->Metric(0, "halo_history_changes_total"), 0);
}

TEST(ExpectHeadTest, AFreshServerRefusesAHistoryThatLacksThePinnedEntry) {
  ASSERT_OK_AND_ASSIGN(const auto store, TestStore::OnFiles());
  std::string head;
  {
    auto replicas = Replicas::Start(*store, 1);
    ASSERT_OK(replicas);
    ASSERT_TRUE(replicas->Kill(0, "pinned"));
    ASSERT_OK_AND_ASSIGN(const auto audit, replicas->Get(0, "/api/v1/audit"));
    const std::size_t at = audit.body.find("\"head\":\"");
    ASSERT_NE(at, std::string::npos) << audit.body;
    head = audit.body.substr(at + 8, 64);
    ASSERT_TRUE(replicas->Kill(0, "later"));
  }
  ASSERT_OK_AND_ASSIGN(const auto holds,
                       support::HaloServer::Start(*store, {"--expect-head", head}));
  ASSERT_OK(holds->Stop());
  const auto lacks = support::HaloServer::Start(*store, {"--expect-head", std::string(64, 'a')});
  EXPECT_THAT(lacks.status().ToString(), testing::HasSubstr("error: none of the 2"));
}

}  // namespace
}  // namespace nemesis
