// Litmus cases of leases, row locks and timeouts; litmus_test.cc says what a litmus case is.

#include "tests/engine/postgres/litmus.h"
#include "tests/support/pgbouncer.h"
#include "tests/support/poll.h"

namespace engine::postgres {
namespace {

using support::Answer;
using support::PgBouncer;
using support::Session;

using LeaseLitmus = Litmus;
using LockLitmus = Litmus;
using PoolerLitmus = Litmus;
using TimeoutLitmus = Litmus;

constexpr char kRenew[] = "update lease set expires_at = 'infinity' where name = 'l'";

std::string Fence(const std::string& strength) {
  return "select holder from lease where name = 'l' for " + strength;
}

TEST_F(LeaseLitmus, ShareFencesLetNewcomersPassTheWaitingRenewal) {
  Session first(url_);
  Session second(url_);
  Session third(url_);
  Session renewal(url_);
  ASSERT_TRUE(first.Run(kBegin).ok && second.Run(kBegin).ok && third.Run(kBegin).ok);
  ASSERT_TRUE(first.Run(Fence("share")).ok);
  renewal.Send(kRenew);
  ASSERT_TRUE(renewal.WaitUntilBlockedBy(first));
  // Each comes after the renewal and is served before it; this can go on for ever.
  ASSERT_EQ(second.Run(Fence("share")).Value(), "me");
  ASSERT_EQ(first.Run("commit").tag, "COMMIT");
  ASSERT_TRUE(renewal.WaitUntilBlockedBy(second));
  ASSERT_EQ(third.Run(Fence("share")).Value(), "me");
  ASSERT_EQ(second.Run("commit").tag, "COMMIT");
  ASSERT_TRUE(renewal.WaitUntilBlockedBy(third));
  ASSERT_EQ(third.Run("commit").tag, "COMMIT");
  EXPECT_EQ(renewal.Finish().tag, "UPDATE 1");
}

TEST_F(LeaseLitmus, NoKeyUpdateFencesQueueBehindTheRenewal) {
  Session first(url_);
  Session second(url_);
  Session renewal(url_);
  ASSERT_TRUE(first.Run(kBegin).ok && second.Run(kBegin).ok && renewal.Run(kBegin).ok);
  ASSERT_TRUE(first.Run(Fence("no key update")).ok);
  renewal.Send(kRenew);
  ASSERT_TRUE(renewal.WaitUntilBlockedBy(first));
  second.Send(Fence("no key update"));
  ASSERT_TRUE(second.WaitUntilBlocked());
  ASSERT_EQ(first.Run("commit").tag, "COMMIT");
  EXPECT_EQ(renewal.Finish().tag, "UPDATE 1");
  ASSERT_TRUE(second.WaitUntilBlockedBy(renewal));
  ASSERT_EQ(renewal.Run("commit").tag, "COMMIT");
  EXPECT_EQ(second.Finish().Value(), "me");
}

TEST_F(LeaseLitmus, KeyShareFencesNothing) {
  Session fenced(url_);
  ASSERT_TRUE(fenced.Run(kBegin).ok);
  ASSERT_EQ(fenced.Run(Fence("key share")).Value(), "me");
  Session takeover(url_);
  ASSERT_TRUE(takeover.Run("set lock_timeout = '10s'").ok);
  EXPECT_EQ(takeover.Run("update lease set holder = 'other' where name = 'l'").tag, "UPDATE 1");
  ASSERT_TRUE(fenced.Run("insert into journal values (1)").ok);
  EXPECT_EQ(fenced.Run("commit").tag, "COMMIT");
}

TEST_F(LeaseLitmus, NoKeyUpdateFenceHoldsTheTakeoverBack) {
  Session fenced(url_);
  ASSERT_TRUE(fenced.Run(kBegin).ok);
  ASSERT_EQ(fenced.Run(Fence("no key update")).Value(), "me");
  Session takeover(url_);
  takeover.Send("update lease set holder = 'other' where name = 'l'");
  ASSERT_TRUE(takeover.WaitUntilBlockedBy(fenced));
  ASSERT_EQ(fenced.Run("commit").tag, "COMMIT");
  EXPECT_EQ(takeover.Finish().tag, "UPDATE 1");
}

TEST_F(LeaseLitmus, ShareLockThatIsUpgradedDeadlocks) {
  Session first(url_);
  Session second(url_);
  // The one whose timeout fires while the circle is closed is the victim.
  ASSERT_TRUE(first.Run("set deadlock_timeout = '10min'").ok);
  ASSERT_TRUE(second.Run("set deadlock_timeout = '10ms'").ok);
  for (Session* const session : {&first, &second}) {
    ASSERT_TRUE(session->Run(kBegin).ok);
    ASSERT_TRUE(session->Run(Fence("share")).ok);
  }
  first.Send(kRenew);
  ASSERT_TRUE(first.WaitUntilBlockedBy(second));
  EXPECT_EQ(second.Run(kRenew).sqlstate, "40P01");
  ASSERT_TRUE(second.Run("rollback").ok);
  EXPECT_EQ(first.Finish().tag, "UPDATE 1");
}

TEST_F(LeaseLitmus, NoKeyUpdateLockIsUpgradedInTurn) {
  Session first(url_);
  Session second(url_);
  ASSERT_TRUE(first.Run(kBegin).ok && second.Run(kBegin).ok);
  ASSERT_TRUE(first.Run(Fence("no key update")).ok);
  second.Send(Fence("no key update"));
  ASSERT_TRUE(second.WaitUntilBlockedBy(first));
  EXPECT_EQ(first.Run(kRenew).tag, "UPDATE 1");
  ASSERT_EQ(first.Run("commit").tag, "COMMIT");
  EXPECT_EQ(second.Finish().Value(), "me");
  EXPECT_EQ(second.Run(kRenew).tag, "UPDATE 1");
  EXPECT_EQ(second.Run("commit").tag, "COMMIT");
}

// A lease of `ttl` is fenced by one statement that judges the time and locks, while another
// session holds the row until the lease is over. `ttl` grows until the statement was in time.
class JudgedLease : public Litmus {
 protected:
  // `fence` is left inside its transaction with the answer of the statement.
  Answer JudgeAcrossExpiry(Session& fence, const std::string& statement) {
    for (int ttl_ms = 500; ttl_ms <= 16'000; ttl_ms *= 2) {
      Session holder(url_);
      EXPECT_TRUE(holder
                      .Run("update lease set expires_at = clock_timestamp() + '" +
                           std::to_string(ttl_ms) + "ms'")
                      .ok);
      EXPECT_TRUE(holder.Run(kBegin).ok);
      EXPECT_TRUE(holder.Run(Fence("no key update")).ok);
      EXPECT_TRUE(fence.Run(kBegin).ok);
      fence.Send(statement);
      EXPECT_TRUE(fence.WaitUntilBlockedBy(holder));
      const bool in_time = Value("select expires_at > clock_timestamp() from lease") == "t";
      EXPECT_TRUE(support::WaitFor(
          [&] { return Value("select expires_at < clock_timestamp() from lease") == "t"; },
          Deadline::After(std::chrono::seconds(40))));
      EXPECT_TRUE(holder.Run("rollback").ok);
      Answer answer = fence.Finish();
      if (in_time) {
        return answer;
      }
      EXPECT_TRUE(fence.Run("rollback").ok);
    }
    ADD_FAILURE() << "the machine is too slow for this case";
    return {};
  }
};

TEST_F(JudgedLease, TimeInTheLockingStatementIsJudgedBeforeTheWait) {
  Session fence(url_);
  EXPECT_EQ(JudgeAcrossExpiry(fence,
                              "select expires_at > clock_timestamp() from lease"
                              " where name = 'l' for no key update")
                .Value(),
            "t");
  EXPECT_EQ(fence.Run("select expires_at > clock_timestamp() from lease where name = 'l'").Value(),
            "f");
}

TEST_F(JudgedLease, ConditionInTheLockingStatementIsJudgedBeforeTheWait) {
  Session fence(url_);
  EXPECT_EQ(JudgeAcrossExpiry(fence,
                              "select name from lease where name = 'l'"
                              " and expires_at > clock_timestamp() for no key update")
                .Value(),
            "l");
  EXPECT_EQ(fence
                .Run("select count(*) from lease where name = 'l'"
                     " and expires_at > clock_timestamp()")
                .Value(),
            "0");
}

TEST_F(LockLitmus, StatementsBehindAWaitingAlterWaitForItsReader) {
  Session reader(url_);
  ASSERT_TRUE(reader.Run(kBegin).ok);
  ASSERT_TRUE(reader.Run(kCount).ok);
  Session alter(url_);
  alter.Send("alter table journal add column more int");
  ASSERT_TRUE(alter.WaitUntilBlockedBy(reader));
  Session bystander(url_);
  ASSERT_TRUE(bystander.Run("set lock_timeout = '100ms'").ok);
  EXPECT_EQ(bystander.Run(kCount).sqlstate, "55P03");
  ASSERT_EQ(reader.Run("commit").tag, "COMMIT");
  EXPECT_TRUE(alter.Finish().ok);
  // With a timeout of its own the change gives up, and nobody waits behind it.
  ASSERT_TRUE(reader.Run(kBegin).ok);
  ASSERT_TRUE(reader.Run(kCount).ok);
  ASSERT_TRUE(alter.Run("set lock_timeout = '100ms'").ok);
  EXPECT_EQ(alter.Run("alter table journal add column again int").sqlstate, "55P03");
  EXPECT_EQ(bystander.Run(kCount).Value(), "0");
}

TEST_F(TimeoutLitmus, LockTimeoutCoversTheAdvisoryLock) {
  Session holder(url_);
  HoldLockAndInsert(holder);
  Session waiter(url_);
  ASSERT_TRUE(waiter.Run(kBegin).ok);
  ASSERT_TRUE(waiter.Run("set local lock_timeout = '100ms'").ok);
  EXPECT_EQ(waiter.Run(kLock).sqlstate, "55P03");
  ASSERT_TRUE(waiter.Run("rollback").ok);
  EXPECT_EQ(holder.Run("commit").tag, "COMMIT");
}

TEST_F(TimeoutLitmus, SilentHolderLosesTheLockAtTheIdleTimeout) {
  Session patient(url_);
  ASSERT_TRUE(patient.Run(kBegin).ok);
  ASSERT_TRUE(patient.Run("select pg_advisory_xact_lock(8)").ok);
  Session silent(url_);
  ASSERT_TRUE(silent.Run(kBegin).ok);
  ASSERT_TRUE(silent.Run("set local idle_in_transaction_session_timeout = '500ms'").ok);
  ASSERT_TRUE(silent.Run(kLock).ok);
  ASSERT_TRUE(silent.Run("insert into journal values (1)").ok);
  Session next(url_);
  ASSERT_TRUE(next.Run(kBegin).ok);
  EXPECT_TRUE(next.Run(kLock).ok);
  EXPECT_EQ(next.Run(kCount).Value(), "0");
  EXPECT_FALSE(silent.Run("commit").ok);
  EXPECT_FALSE(silent.connected());
  // Without the timeout a silent holder keeps its lock.
  EXPECT_EQ(Value("select pg_try_advisory_xact_lock(8)"), "f");
}

TEST_F(PoolerLitmus, SessionLockStaysWithTheServerConnection) {
  ASSERT_OK_AND_ASSIGN(auto bouncer, PgBouncer::Start(support::SharedCluster()));
  const std::string pooled = bouncer->Through(url_);
  {
    Session gone(pooled);
    ASSERT_TRUE(gone.Run("select pg_advisory_lock(1)").ok);
    ASSERT_TRUE(gone.Run("begin; select pg_advisory_xact_lock(2); commit").ok);
  }
  EXPECT_EQ(Value("select pg_try_advisory_lock(1)"), "f");
  EXPECT_EQ(Value("select pg_try_advisory_lock(2)"), "t");
}

TEST_F(PoolerLitmus, NamedStatementIsLostUnnamedInATransactionIsNot) {
  ASSERT_OK_AND_ASSIGN(auto bouncer, PgBouncer::Start(support::SharedCluster(), {.pool_size = 2}));
  const std::string pooled = bouncer->Through(url_);
  Session first(pooled);
  Session second(pooled);
  ASSERT_TRUE(first.Run("prepare named as select 1").ok);
  // Takes the connection that has the statement, so that the next one is another.
  ASSERT_TRUE(second.Run("begin").ok);
  EXPECT_EQ(first.Run("execute named").sqlstate, "26000");
  ASSERT_TRUE(second.Run("commit").ok);
}

TEST_F(PoolerLitmus, StartupOptionsAreRefused) {
  ASSERT_OK_AND_ASSIGN(auto bouncer, PgBouncer::Start(support::SharedCluster()));
  const std::string pooled = bouncer->Through(url_);
  EXPECT_TRUE(Session(pooled).connected());
  EXPECT_FALSE(Session(pooled + "&options=-c%20lock_timeout%3D1s").connected());
}

}  // namespace
}  // namespace engine::postgres
