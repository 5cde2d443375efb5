// Opening the engine, losing the database, and finding the wrong one.

#include <gmock/gmock.h>

#include "engine/base/thread.h"
#include "tests/engine/postgres/fixture.h"
#include "tests/support/logs.h"
#include "tests/support/pgbouncer.h"
#include "tests/support/process.h"
#include "tests/support/session.h"

namespace engine::postgres {
namespace {

using conformance::FromTheStart;
using support::PostgresCluster;
using support::StatusIs;
using support::StopMode;
using testing::Contains;
using testing::HasSubstr;

TEST(OpenTest, AnUnreachableDatabaseIsTriedAgainAndThenGivenUp) {
  Options options = OptionsFor("postgresql:///halo?host=/nonexistent");
  options.connect_attempts = 3;
  options.stats = std::make_shared<Stats>();
  EXPECT_THAT(Open(conformance::Streams(), options),
              StatusIs(absl::StatusCode::kUnavailable, HasSubstr("after 3 attempts")));
  EXPECT_THAT(support::LogLines(), Contains(HasSubstr("attempt 3 of 3")));
  EXPECT_EQ(options.stats->errors(DbError::kConnect), 3U);
  EXPECT_EQ(options.stats->open_connections, 0);
}

TEST(OpenTest, TooFewConnectionsAreRefused) {
  Options options = OptionsFor("postgresql:///halo?host=/tmp");
  options.max_conns = 4;
  EXPECT_THAT(Open(conformance::Streams(), options), StatusIs(absl::StatusCode::kInvalidArgument));
}

class OpenedTest : public PostgresTest {};

TEST_F(OpenedTest, AStreamWithAnotherNumberIsRefused) {
  ASSERT_OK(Open(conformance::Streams(), OptionsFor(url())));
  Catalogue renumbered = conformance::Streams();
  renumbered[1].id = StreamId{9};
  EXPECT_THAT(Open(renumbered, OptionsFor(url())), StatusIs(absl::StatusCode::kFailedPrecondition));
  Catalogue renamed = conformance::Streams();
  renamed[1].name = "other";
  EXPECT_THAT(Open(renamed, OptionsFor(url())), StatusIs(absl::StatusCode::kFailedPrecondition));
}

TEST_F(OpenedTest, ConnectionsStayWithinTheirNumber) {
  Options options = OptionsFor(url());
  options.max_conns = 5;
  options.stats = std::make_shared<Stats>();
  ASSERT_OK_AND_ASSIGN(auto engine, Open(conformance::Streams(), options));
  {
    std::vector<Thread> readers;
    for (int i = 0; i < 12; ++i) {
      readers.emplace_back("reader", [&] {
        for (int round = 0; round < 20; ++round) {
          EXPECT_OK(engine->journal().ReadAfter(FromTheStart(), Soon()));
          EXPECT_LE(options.stats->open_connections, 5);
        }
      });
    }
  }
  EXPECT_OK(engine->CheckReady(Soon()));
}

TEST_F(OpenedTest, ATableThatIsGoneIsAStoreThatIsAway) {
  ASSERT_OK(journal().ReadAfter(FromTheStart(), Soon()));
  Run("alter table halo_journal rename to old_journal");
  EXPECT_THAT(journal().ReadAfter(FromTheStart(), Soon()),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(engine().CheckReady(Soon()), StatusIs(absl::StatusCode::kUnavailable));
  Run("alter table old_journal rename to halo_journal");
  EXPECT_OK(journal().ReadAfter(FromTheStart(), Soon()));
}

// Somebody makes an index, say. A new connection that prepared an insert would wait for that.
TEST_F(OpenedTest, ReadsOfNewConnectionsGoOnWhileTheJournalIsClosedForWrites) {
  support::Session other(url());
  ASSERT_TRUE(other.Run("begin; lock table halo_journal in share mode").ok);
  EXPECT_OK(journal().ReadAfter(FromTheStart(), Soon()));  // Of a new engine.
  EXPECT_OK(journal().Tails(Soon()));
  Options options = OptionsFor(url());
  options.request_timeout = std::chrono::seconds(1);
  ASSERT_OK_AND_ASSIGN(const auto impatient, Open(conformance::Streams(), options));
  EXPECT_THAT(impatient->journal().Begin(Soon()), StatusIs(absl::StatusCode::kDeadlineExceeded));
  ASSERT_TRUE(other.Run("rollback").ok);
  EXPECT_EQ(Prepared("later")->Commit(Soon()).kind, CommitOutcome::Kind::kCommitted);
  ASSERT_OK_AND_ASSIGN(const News news, journal().ReadAfter(FromTheStart(), Soon()));
  EXPECT_EQ(news.rows.size(), 1U);
}

TEST_F(OpenedTest, TheOriginChangesWithTheTable) {
  ASSERT_OK_AND_ASSIGN(const News before, journal().ReadAfter(FromTheStart(), Soon()));
  ASSERT_OK_AND_ASSIGN(const News again, journal().ReadAfter(FromTheStart(), Soon()));
  EXPECT_EQ(before.origin, again.origin);
  Run("alter table halo_journal rename to old_journal;"
      "create table halo_journal (like old_journal including all)");
  ASSERT_OK_AND_ASSIGN(const News after, journal().ReadAfter(FromTheStart(), Soon()));
  EXPECT_NE(before.origin, after.origin);
}

class LostDatabaseTest : public PostgresTest {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(cluster_, PostgresCluster::Start());
    UseCluster(*cluster_);
  }
  std::unique_ptr<PostgresCluster> cluster_;
};

TEST_F(LostDatabaseTest, IsUnavailableWhileItIsAwayAndServesWhenItIsBack) {
  ASSERT_OK_AND_ASSIGN(const News before, journal().ReadAfter(FromTheStart(), Soon()));
  auto transaction = Prepared("lost");
  ASSERT_OK(cluster_->Stop(StopMode::kImmediate));
  EXPECT_EQ(transaction->Commit(Soon()).kind, CommitOutcome::Kind::kFailed);
  transaction.reset();
  EXPECT_THAT(journal().ReadAfter(FromTheStart(), Soon()),
              StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(journal().Begin(Soon()), StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_THAT(engine().CheckReady(Soon()), StatusIs(absl::StatusCode::kUnavailable));

  ASSERT_OK(cluster_->StartAgain());
  EXPECT_OK(engine().CheckReady(Soon()));
  ASSERT_OK_AND_ASSIGN(const News after, journal().ReadAfter(FromTheStart(), Soon()));
  EXPECT_NE(before.origin, after.origin) << "another life of the server";
  EXPECT_EQ(Prepared("kept")->Commit(Soon()).kind, CommitOutcome::Kind::kCommitted);
}

// The server ends it before we would: what became of it is known.
TEST_F(LostDatabaseTest, AStatementThatTakesTooLongHasFailedForCertain) {
  ASSERT_OK(journal().ReadAfter(FromTheStart(), Soon()));
  Run("create function pause() returns trigger language plpgsql as"
      " $$ begin perform pg_sleep(30); return null; end $$;"
      "create trigger pause after insert on halo_journal execute function pause()");
  ASSERT_OK_AND_ASSIGN(auto transaction,
                       journal().Begin(Deadline::After(std::chrono::milliseconds(700))));
  ASSERT_OK_AND_ASSIGN(const auto state, transaction->Read({.after = FromTheStart()}));
  ASSERT_OK(transaction->Append(
      conformance::RowBuilder(state).Add(conformance::kEvents, "", "slow").rows(), {}));
  const CommitOutcome outcome = transaction->Commit(Soon());
  EXPECT_EQ(outcome.kind, CommitOutcome::Kind::kFailed);
  EXPECT_THAT(outcome.why, StatusIs(absl::StatusCode::kDeadlineExceeded));
}

// A primary that becomes a standby under our feet: what an old leader does after a failover.
TEST_F(LostDatabaseTest, AStandbysAnswerCountsForNothing) {
  EXPECT_EQ(Prepared("one")->Commit(Soon()).kind, CommitOutcome::Kind::kCommitted);
  ASSERT_OK(journal().ReadAfter(FromTheStart(), Soon()));
  ASSERT_OK(cluster_->Stop(StopMode::kFast));
  ASSERT_OK_AND_ASSIGN(
      auto touch,
      support::Process::Start({.argv = {"touch", cluster_->data_directory() + "/standby.signal"}}));
  ASSERT_OK(touch->Wait(Soon()));
  ASSERT_OK(cluster_->StartAgain());
  ASSERT_EQ(Value("select pg_is_in_recovery()"), "t");

  const auto unavailable = StatusIs(absl::StatusCode::kUnavailable);
  EXPECT_THAT(journal().ReadAfter(FromTheStart(), Soon()), unavailable);
  EXPECT_THAT(journal().Tails(Soon()), unavailable);
  EXPECT_THAT(journal().ReadStream(conformance::kEvents, Position{1}, 9, Soon()), unavailable);
  EXPECT_THAT(journal().Begin(Soon()), unavailable);
  EXPECT_THAT(engine().CheckReady(Soon()), unavailable);
  EXPECT_THAT(Open(conformance::Streams(), OptionsFor(url())), unavailable);
}

}  // namespace
}  // namespace engine::postgres
