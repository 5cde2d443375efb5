// Facts about Postgres that the journal's protocol rests on, each played on the real server in
// its bad form and its good form: the bad outcome is the reason for the rule, and if a server
// ever behaves otherwise the protocol has to be thought through again.
//
// This file: commits, numbering, snapshots, clients that vanish. Leases and timeouts are in
// litmus_lock_test.cc.

#include "tests/engine/postgres/litmus.h"

#include <functional>

#include "tests/support/poll.h"

namespace engine::postgres {
namespace {

using support::Answer;
using support::PostgresCluster;
using support::Session;
using support::StopMode;

using CommitLitmus = Litmus;
using NumberLitmus = Litmus;
using SnapshotLitmus = Litmus;
using ZombieLitmus = Litmus;

TEST_F(CommitLitmus, CommitOfAFailedTransactionSucceedsWithTheTagRollback) {
  Session session(url_);
  ASSERT_TRUE(session.Run(kBegin).ok);
  ASSERT_TRUE(session.Run("insert into journal values (1)").ok);
  EXPECT_EQ(session.Run("select 1 / 0").sqlstate, "22012");
  const Answer commit = session.Run("commit");
  EXPECT_TRUE(commit.ok);
  EXPECT_EQ(commit.sqlstate, "");
  EXPECT_EQ(commit.tag, "ROLLBACK");
  EXPECT_EQ(Value(kCount), "0");
}

TEST_F(CommitLitmus, OnlyTheTagCommitIsACommit) {
  Session session(url_);
  ASSERT_TRUE(session.Run(kBegin).ok);
  ASSERT_TRUE(session.Run("insert into journal values (1)").ok);
  const Answer commit = session.Run("commit");
  EXPECT_EQ(commit.tag, "COMMIT");
  EXPECT_TRUE(commit.warnings.empty());
  EXPECT_EQ(Value(kCount), "1");
}

TEST_F(NumberLitmus, NumberDrawnBeforeTheLockIsLostToTheReader) {
  Session slow(url_);
  Session fast(url_);
  ASSERT_TRUE(slow.Run(kBegin).ok);
  ASSERT_EQ(slow.Run("select nextval('drawn')").Value(), "1");
  ASSERT_TRUE(fast.Run(kBegin).ok);
  ASSERT_TRUE(fast.Run(kLock).ok);
  ASSERT_TRUE(fast.Run("insert into journal values (nextval('drawn'))").ok);
  ASSERT_EQ(fast.Run("commit").tag, "COMMIT");
  EXPECT_EQ(Value("select id from journal where id > 0"), "2");
  ASSERT_TRUE(slow.Run(kLock).ok);
  ASSERT_TRUE(slow.Run("insert into journal values (1)").ok);
  ASSERT_EQ(slow.Run("commit").tag, "COMMIT");
  EXPECT_EQ(Value("select count(*) from journal where id > 2"), "0");
  EXPECT_EQ(Value(kCount), "2");
}

TEST_F(NumberLitmus, NumberTakenUnderTheLockReachesTheReader) {
  Session slow(url_);
  Session fast(url_);
  ASSERT_TRUE(slow.Run(kBegin).ok);
  HoldLockAndInsert(fast);
  slow.Send(kLock);
  ASSERT_TRUE(slow.WaitUntilBlockedBy(fast));
  ASSERT_EQ(fast.Run("commit").tag, "COMMIT");
  EXPECT_EQ(Value("select id from journal where id > 0"), "1");
  ASSERT_TRUE(slow.Finish().ok);
  ASSERT_TRUE(slow.Run("insert into journal select max(id) + 1 from journal").ok);
  ASSERT_EQ(slow.Run("commit").tag, "COMMIT");
  EXPECT_EQ(Value("select id from journal where id > 1"), "2");
}

TEST_F(NumberLitmus, CachedSequenceLeavesTheOrderOfTheLock) {
  ASSERT_OK(support::Sql(url_, "create sequence cached cache 10"));
  Session first(url_);
  Session second(url_);
  const auto draw = [](Session& session) {
    EXPECT_TRUE(session.Run(kBegin).ok);
    EXPECT_TRUE(session.Run(kLock).ok);
    const std::string id = session.Run("select nextval('cached')").Value();
    EXPECT_EQ(session.Run("commit").tag, "COMMIT");
    return id;
  };
  EXPECT_EQ(draw(first), "1");
  EXPECT_EQ(draw(second), "11");
  EXPECT_EQ(draw(first), "2");
  EXPECT_EQ(draw(second), "12");
}

TEST_F(NumberLitmus, ConflictAndRollbackBurnASequenceNumberButNotOurs) {
  Session session(url_);
  ASSERT_TRUE(session.Run("insert into journal values (1)").ok);
  ASSERT_EQ(
      session.Run("insert into journal select 1 + 0 * nextval('drawn') on conflict do nothing").tag,
      "INSERT 0 0");
  EXPECT_EQ(session.Run("select nextval('drawn')").Value(), "2");
  ASSERT_TRUE(session.Run("begin").ok);
  ASSERT_TRUE(session.Run("insert into journal select max(id) + 1 from journal").ok);
  ASSERT_TRUE(session.Run("rollback").ok);
  EXPECT_EQ(session.Run("select max(id) + 1 from journal").Value(), "2");
}

// Lets `waiter` run what it does to take the lock and count while another transaction holds the
// lock with a row that it then commits. Returns the count.
std::string CountAfterWaiting(const std::string& url, const std::string& begin,
                              const std::string& wait, const std::string& count,
                              const std::function<void(Session&)>& hold) {
  Session holder(url);
  hold(holder);
  Session waiter(url);
  EXPECT_TRUE(waiter.Run(begin).ok);
  waiter.Send(wait);
  EXPECT_TRUE(waiter.WaitUntilBlockedBy(holder));
  EXPECT_EQ(holder.Run("commit").tag, "COMMIT");
  const Answer waited = waiter.Finish();
  EXPECT_TRUE(waited.ok) << waited.message;
  return count.empty() ? waited.Value() : waiter.Run(count).Value();
}

TEST_F(SnapshotLitmus, OneStatementThatLocksAndReadsReadsFromBeforeTheLock) {
  EXPECT_EQ(CountAfterWaiting(url_, kBegin,
                              "select (select count(*) from journal)"
                              " from (select pg_advisory_xact_lock(7) offset 0) as locked"
                              " where locked is not null",
                              "", [this](Session& holder) { HoldLockAndInsert(holder); }),
            "0");
}

TEST_F(SnapshotLitmus, LockThenReadUnderReadCommittedSeesTheHoldersRow) {
  EXPECT_EQ(CountAfterWaiting(url_, kBegin, kLock, kCount,
                              [this](Session& holder) { HoldLockAndInsert(holder); }),
            "1");
}

TEST_F(SnapshotLitmus, LockThenReadUnderRepeatableReadMissesTheHoldersRow) {
  EXPECT_EQ(CountAfterWaiting(url_, "begin isolation level repeatable read", kLock, kCount,
                              [this](Session& holder) { HoldLockAndInsert(holder); }),
            "0");
}

TEST_F(SnapshotLitmus, PlainBeginObeysTheDatabasesDefaultAndMissesTheRow) {
  ASSERT_OK(support::Sql(url_,
                         "do $$ begin execute format('alter database %I set "
                         "default_transaction_isolation = ''repeatable read''',"
                         " current_database()); end $$"));
  EXPECT_EQ(CountAfterWaiting(url_, "begin", kLock, kCount,
                              [this](Session& holder) { HoldLockAndInsert(holder); }),
            "0");
  EXPECT_EQ(CountAfterWaiting(url_, kBegin, kLock, kCount,
                              [this](Session& holder) { HoldLockAndInsert(holder); }),
            "2");
}

TEST_F(SnapshotLitmus, SessionLockLetGoBeforeCommitHidesTheRowFromTheNextHolder) {
  Session holder(url_);
  ASSERT_TRUE(holder.Run("select pg_advisory_lock(7)").ok);
  ASSERT_TRUE(holder.Run(kBegin).ok);
  ASSERT_TRUE(holder.Run("insert into journal values (1)").ok);
  ASSERT_EQ(holder.Run("select pg_advisory_unlock(7)").Value(), "t");
  Session next(url_);
  ASSERT_TRUE(next.Run(kBegin).ok);
  ASSERT_TRUE(next.Run(kLock).ok);
  EXPECT_EQ(next.Run(kCount).Value(), "0");
  ASSERT_EQ(holder.Run("commit").tag, "COMMIT");
}

TEST_F(SnapshotLitmus, TransactionLockIsHeldUntilItsRowsAreVisible) {
  Session holder(url_);
  HoldLockAndInsert(holder);
  // Answered with false and a warning: there is no such thing as letting go early.
  ASSERT_EQ(holder.Run("select pg_advisory_unlock(7)").Value(), "f");
  Session next(url_);
  ASSERT_TRUE(next.Run(kBegin).ok);
  next.Send(kLock);
  ASSERT_TRUE(next.WaitUntilBlockedBy(holder));
  ASSERT_EQ(holder.Run("commit").tag, "COMMIT");
  ASSERT_TRUE(next.Finish().ok);
  EXPECT_EQ(next.Run(kCount).Value(), "1");
}

TEST_F(ZombieLitmus, BackendOfAClientThatGaveUpCommitsAfterTheRetryWasAnswered) {
  Session holder(url_);
  ASSERT_TRUE(holder.Run(kBegin).ok);
  ASSERT_TRUE(holder.Run(kLock).ok);
  Session zombie(url_);
  zombie.Send("begin; select pg_advisory_xact_lock(7); insert into journal values (13); commit");
  ASSERT_TRUE(zombie.WaitUntilBlockedBy(holder));
  zombie.Vanish();
  // The retry looks without the lock, finds nothing and says so.
  EXPECT_EQ(Value(kCount), "0");
  ASSERT_TRUE(zombie.BackendIsThere());
  ASSERT_EQ(holder.Run("commit").tag, "COMMIT");
  ASSERT_TRUE(zombie.WaitUntilGone());
  EXPECT_EQ(Value("select id from journal"), "13");
}

TEST_F(ZombieLitmus, LockTimeoutBelowTheClientsPatienceStopsTheZombie) {
  Session holder(url_);
  ASSERT_TRUE(holder.Run(kBegin).ok);
  ASSERT_TRUE(holder.Run(kLock).ok);
  Session zombie(url_);
  zombie.Send(
      "begin; set local lock_timeout = '300ms'; select pg_advisory_xact_lock(7);"
      " insert into journal values (13); commit");
  zombie.Vanish();
  ASSERT_TRUE(zombie.WaitUntilGone());
  // It did come to the lock and was refused there.
  EXPECT_THAT(support::SharedCluster().ServerLog(),
              testing::HasSubstr("[" + std::to_string(zombie.backend_pid()) +
                                 "] ERROR:  canceling statement due to lock timeout"));
  EXPECT_EQ(Value(kCount), "0");
  ASSERT_EQ(holder.Run("commit").tag, "COMMIT");
  EXPECT_EQ(Value(kCount), "0");
}

TEST_F(ZombieLitmus, RetryThatTakesTheLockFirstSeesWhatTheZombieDid) {
  Session holder(url_);
  ASSERT_TRUE(holder.Run(kBegin).ok);
  ASSERT_TRUE(holder.Run(kLock).ok);
  Session zombie(url_);
  zombie.Send("begin; select pg_advisory_xact_lock(7); insert into journal values (13); commit");
  ASSERT_TRUE(zombie.WaitUntilBlockedBy(holder));
  zombie.Vanish();
  Session retry(url_);
  ASSERT_TRUE(retry.Run(kBegin).ok);
  retry.Send(kLock);
  ASSERT_TRUE(retry.WaitUntilBlocked());
  ASSERT_EQ(holder.Run("commit").tag, "COMMIT");
  ASSERT_TRUE(retry.Finish().ok);
  EXPECT_EQ(retry.Run("select id from journal").Value(), "13");
}

TEST_F(ZombieLitmus, BusyBackendKeepsTheLockOfAVanishedClientUnlessItLooks) {
  const auto hold_and_vanish = [&](Session& session, const std::string& setting, int lock) {
    ASSERT_TRUE(session.Run(kBegin).ok);
    ASSERT_TRUE(session.Run("set local client_connection_check_interval = " + setting).ok);
    ASSERT_TRUE(session.Run("select pg_advisory_xact_lock(" + std::to_string(lock) + ")").ok);
    session.Send("select pg_sleep(600)");
    ASSERT_TRUE(session.WaitUntilWaitingFor("PgSleep"));
    session.Vanish();
  };
  Session careless(url_);
  hold_and_vanish(careless, "0", 1);
  Session careful(url_);
  hold_and_vanish(careful, "'100ms'", 2);
  ASSERT_TRUE(careful.WaitUntilGone());
  EXPECT_EQ(Value("select pg_try_advisory_lock(2)"), "t");
  EXPECT_TRUE(careless.BackendIsThere());
  EXPECT_EQ(Value("select pg_try_advisory_lock(1)"), "f");
  EXPECT_EQ(
      Value("select pg_terminate_backend(" + std::to_string(careless.backend_pid()) + ", 20000)"),
      "t");
}

// A cluster whose commits wait for a standby that does not exist.
class SynchronousLitmus : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(cluster_, PostgresCluster::Start());
    ASSERT_OK_AND_ASSIGN(url_, cluster_->CreateDatabase("synchronous"));
    ASSERT_OK(support::Sql(url_, "create table journal (id bigint primary key)"));
    ASSERT_OK(cluster_->Set("synchronous_standby_names", "absent"));
    cluster_->Reload();
    Session observer(url_);
    ASSERT_TRUE(support::WaitFor(
        [&] { return observer.Run("show synchronous_standby_names").Value() == "absent"; },
        Deadline::After(std::chrono::seconds(20))));
  }

  // `session` has the lock and waits in its commit of row 1.
  void WaitInCommit(Session& session) {
    ASSERT_TRUE(session.Run(kBegin).ok);
    ASSERT_TRUE(session.Run("set local statement_timeout = '100ms'").ok);
    ASSERT_TRUE(session.Run(kLock).ok);
    ASSERT_TRUE(session.Run("insert into journal values (1)").ok);
    session.Send("commit");
    ASSERT_TRUE(session.WaitUntilWaitingFor("SyncRep"));
  }

  std::string Value(const std::string& statement) {
    Session session(url_);
    return session.Run(statement).Value();
  }

  std::string Signal(const std::string& function, const Session& session) {
    return Value("select " + function + "(" + std::to_string(session.backend_pid()) + ")");
  }

  std::unique_ptr<PostgresCluster> cluster_;
  std::string url_;
};

TEST_F(SynchronousLitmus, WaitingCommitIsInvisibleHoldsTheLockAndIgnoresTheTimeout) {
  Session session(url_);
  WaitInCommit(session);
  ASSERT_TRUE(support::WaitFor(
      [&] {
        return Value(
                   "select clock_timestamp() - query_start > '300ms' from pg_stat_activity"
                   " where pid = " +
                   std::to_string(session.backend_pid())) == "t";
      },
      Deadline::After(std::chrono::seconds(20))));
  EXPECT_TRUE(session.WaitUntilWaitingFor("SyncRep"));
  EXPECT_EQ(Value(kCount), "0");
  EXPECT_EQ(Value("select pg_try_advisory_xact_lock(7)"), "f");
}

TEST_F(SynchronousLitmus, CancelledWaitLooksLikeACommitButForItsWarning) {
  Session session(url_);
  WaitInCommit(session);
  ASSERT_EQ(Signal("pg_cancel_backend", session), "t");
  const Answer commit = session.Finish();
  EXPECT_TRUE(commit.ok);
  EXPECT_EQ(commit.tag, "COMMIT");
  EXPECT_EQ(commit.warnings, std::vector<std::string>{"01000"});
  EXPECT_EQ(Value(kCount), "1");
}

TEST_F(SynchronousLitmus, TerminatedWaitBreaksTheConnectionAndTheRowIsThere) {
  Session session(url_);
  WaitInCommit(session);
  ASSERT_EQ(Signal("pg_terminate_backend", session), "t");
  EXPECT_FALSE(session.Finish().ok);
  EXPECT_FALSE(session.connected());
  EXPECT_EQ(Value(kCount), "1");
}

TEST_F(SynchronousLitmus, CrashInTheWaitKeepsTheRow) {
  Session session(url_);
  WaitInCommit(session);
  ASSERT_OK(cluster_->Stop(StopMode::kImmediate));
  EXPECT_FALSE(session.Finish().ok);
  ASSERT_OK(cluster_->StartAgain());
  EXPECT_EQ(Value(kCount), "1");
}

}  // namespace
}  // namespace engine::postgres
