// What can go wrong between BEGIN and the answer to COMMIT.

#include <future>

#include <gmock/gmock.h>

#include "tests/engine/postgres/fixture.h"
#include "tests/support/fault_proxy.h"
#include "tests/support/pgbouncer.h"
#include "tests/support/poll.h"

namespace engine::postgres {
namespace {

using conformance::FromTheStart;
using conformance::kEvents;
using conformance::RowBuilder;
using support::PostgresCluster;
using support::Sql;
using support::SqlValue;
using support::StatusIs;
using testing::HasSubstr;
using Kind = CommitOutcome::Kind;

constexpr char kForeignRow[] =
    "insert into halo_journal values (2, 1, 1, null, null, 0, now(), 0, 0, 'foreign')";

class TransactionTest : public PostgresTest {
 protected:
  std::string CountRows() { return Value("select count(*) from halo_journal"); }
};

TEST_F(TransactionTest, ACommitThatIsHeldUpOnItsWayIsNotWritten) {
  ASSERT_OK_AND_ASSIGN(const auto proxy,
                       support::FaultProxy::Start(support::SharedCluster().socket_directory(),
                                                  support::SharedCluster().port()));
  ASSERT_OK_AND_ASSIGN(const auto engine,
                       Open(conformance::Streams(), OptionsFor(proxy->Through(url()))));
  ASSERT_OK_AND_ASSIGN(auto transaction, engine->journal().Begin(Soon()));
  ASSERT_OK_AND_ASSIGN(const auto state, transaction->Read({.after = FromTheStart()}));
  ASSERT_OK(transaction->Append(RowBuilder(state).Add(kEvents, "", "late").rows(), {}));
  proxy->Hold(support::FaultProxy::Direction::kToServer);
  // Sent in time; nobody knows what becomes of it.
  EXPECT_EQ(transaction->Commit(Deadline::After(std::chrono::milliseconds(100))).kind,
            Kind::kUnknown);
  transaction.reset();
  proxy->Release();
  // Only when it has ended is the lock free.
  ASSERT_OK_AND_ASSIGN(const auto next, journal().Begin(Soon()));
  ASSERT_OK_AND_ASSIGN(const auto after, next->Read({.after = FromTheStart()}));
  EXPECT_TRUE(after.news.rows.empty()) << "its client gave up before the server had it";
}

TEST_F(TransactionTest, CommitOfAFailedTransactionIsNoCommit) {
  ASSERT_OK(support::SharedCluster().CreateRole("halo_app"));
  ASSERT_OK(Migrate(OptionsFor(url()), "halo_app"));
  ASSERT_OK_AND_ASSIGN(
      auto app, Open(conformance::Streams(), OptionsFor(support::WithRole(url(), "halo_app"))));
  ASSERT_OK_AND_ASSIGN(auto transaction, app->journal().Begin(Soon()));
  Run("revoke select on halo_streams from halo_app");
  EXPECT_THAT(transaction->Read({.after = FromTheStart()}),
              StatusIs(absl::StatusCode::kPermissionDenied));
  const CommitOutcome outcome = transaction->Commit(Soon());
  EXPECT_EQ(outcome.kind, Kind::kFailed);
  EXPECT_THAT(outcome.why, StatusIs(absl::StatusCode::kAborted, HasSubstr("ROLLBACK")));
}

TEST_F(TransactionTest, AWriterThatForgotTheLockFailsOnThePrimaryKey) {
  auto transaction = Prepared("mine");
  Run(kForeignRow);
  const CommitOutcome outcome = transaction->Commit(Soon());
  EXPECT_EQ(outcome.kind, Kind::kFailed);
  EXPECT_THAT(outcome.why, StatusIs(absl::StatusCode::kAborted, HasSubstr("23505")));
  EXPECT_EQ(CountRows(), "1");
  transaction.reset();
  EXPECT_OK(journal().Begin(Soon())) << "the connection and the lock are free again";
}

TEST_F(TransactionTest, ARowThatVanishesOnTheWayAbortsTheTransaction) {
  Run("create function swallow() returns trigger language plpgsql as"
      " $$ begin if new.stream_id = 3 then return null; end if; return new; end $$;"
      "create trigger swallow before insert on halo_journal for each row execute function"
      " swallow()");
  ASSERT_OK_AND_ASSIGN(auto transaction, journal().Begin(Soon()));
  ASSERT_OK_AND_ASSIGN(const auto state, transaction->Read({.after = FromTheStart()}));
  RowBuilder rows(state);
  rows.Add(kEvents, "", "kept").Add(conformance::kThings, "k", "swallowed");
  ASSERT_OK(transaction->Append(rows.rows(), {}));
  EXPECT_EQ(transaction->Commit(Soon()).kind, Kind::kFailed);
  EXPECT_EQ(CountRows(), "0");
}

TEST_F(TransactionTest, TheIsolationIsOursWhateverTheDatabaseSays) {
  Run("alter database " + Value("select current_database()") +
      " set default_transaction_isolation = 'repeatable read'");
  auto first = Prepared("first");
  auto second = std::async(std::launch::async, [this]() -> absl::StatusOr<std::size_t> {
    auto transaction = journal().Begin(Soon());
    if (!transaction.ok()) {
      return transaction.status();
    }
    const auto state = (*transaction)->Read({.after = FromTheStart()});
    return state.ok() ? absl::StatusOr<std::size_t>(state->news.rows.size()) : state.status();
  });
  ASSERT_TRUE(support::WaitFor(
      [this] { return Value("select count(*) from pg_locks where not granted") != "0"; }, Soon()));
  ASSERT_EQ(first->Commit(Soon()).kind, Kind::kCommitted);
  const auto seen = second.get();
  ASSERT_OK(seen);
  EXPECT_EQ(*seen, 1U) << "the snapshot was taken before the lock was granted";
}

TEST_F(TransactionTest, AWriterRunsWithItsOwnSettings) {
  const std::string database = Value("select current_database()");
  for (const char* setting : {"synchronous_commit = off", "client_min_messages = error",
                              "search_path = nowhere", "statement_timeout = '1h'"}) {
    Run("alter database " + database + " set " + setting);
  }
  const std::string plain = url() + "&options=-csearch_path%3Dpublic";
  ASSERT_OK(Sql(plain,
                "create table seen (name text, value text);"
                "create function look() returns trigger language plpgsql as $$ begin"
                " insert into public.seen select name, setting from pg_settings where name in"
                " ('synchronous_commit', 'client_min_messages', 'statement_timeout',"
                "  'idle_in_transaction_session_timeout', 'enable_seqscan');"
                " insert into public.seen values ('search_path', current_setting('search_path'));"
                " return null; end $$;"
                "create trigger look after insert on halo_journal execute function look()"));
  ASSERT_EQ(Prepared("one")->Commit(Soon()).kind, Kind::kCommitted);
  const auto seen = [&](const std::string& name) {
    const auto value = SqlValue(plain, "select value from seen where name = '" + name + "'");
    return value.ok() ? *value : value.status().ToString();
  };
  EXPECT_EQ(seen("synchronous_commit"), "on");
  EXPECT_EQ(seen("client_min_messages"), "warning");
  EXPECT_EQ(seen("search_path"), "\"public\", pg_temp");
  EXPECT_EQ(seen("statement_timeout"), "10000");
  EXPECT_EQ(seen("idle_in_transaction_session_timeout"), "5000");
  EXPECT_EQ(seen("enable_seqscan"), "off");
}

TEST_F(TransactionTest, AStrongerSynchronousCommitIsLeftAlone) {
  Run("alter database " + Value("select current_database()") +
      " set synchronous_commit = remote_apply");
  Run("create table seen (value text);"
      "create function look() returns trigger language plpgsql as $$ begin"
      " insert into public.seen values (current_setting('synchronous_commit'));"
      " return null; end $$;"
      "create trigger look after insert on halo_journal execute function look()");
  ASSERT_EQ(Prepared("one")->Commit(Soon()).kind, Kind::kCommitted);
  EXPECT_EQ(Value("select value from seen"), "remote_apply");
}

TEST_F(TransactionTest, WaitingForTheLockEndsWithTheDeadline) {
  auto holder = Prepared("held");
  ASSERT_OK_AND_ASSIGN(auto other, Open(conformance::Streams(), OptionsFor(url())));
  const auto refused = other->journal().Begin(Deadline::After(std::chrono::milliseconds(300)));
  EXPECT_THAT(refused, StatusIs(absl::StatusCode::kDeadlineExceeded, HasSubstr("55P03")));
  EXPECT_EQ(Value("select count(*) from pg_locks where not granted"), "0");
}

TEST_F(TransactionTest, ADeadlineThatPassedBeforeTheCommitIsAFailure) {
  ASSERT_OK_AND_ASSIGN(auto transaction,
                       journal().Begin(Deadline::After(std::chrono::milliseconds(400))));
  ASSERT_OK_AND_ASSIGN(const auto state, transaction->Read({.after = FromTheStart()}));
  ASSERT_OK(transaction->Append(RowBuilder(state).Add(kEvents, "", "late").rows(), {}));
  const Deadline passed = Deadline::After(std::chrono::milliseconds(500));
  ASSERT_TRUE(support::WaitFor([&] { return passed.HasPassed(); }, Soon()));
  const CommitOutcome outcome = transaction->Commit(Soon());
  EXPECT_EQ(outcome.kind, Kind::kFailed);
  EXPECT_THAT(outcome.why, StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(CountRows(), "0");
}

TEST_F(TransactionTest, ASessionThatEndedBeforeTheCommitHasFailed) {
  auto transaction = Prepared("one");
  Run("select pg_terminate_backend(pid) from pg_stat_activity where datname ="
      " current_database() and state = 'idle in transaction'");
  ASSERT_TRUE(support::WaitFor(
      [this] { return Value("select count(*) from pg_locks where locktype = 'advisory'") == "0"; },
      Soon()));
  const CommitOutcome outcome = transaction->Commit(Soon());
  EXPECT_EQ(outcome.kind, Kind::kFailed);
  EXPECT_THAT(outcome.why, StatusIs(absl::StatusCode::kUnavailable));
  EXPECT_EQ(CountRows(), "0");
  transaction.reset();
  EXPECT_OK(journal().Begin(Soon())) << "the next use connects again";
}

TEST_F(TransactionTest, ATableThatWasReplacedUnderTheLockIsNotWritten) {
  ASSERT_OK_AND_ASSIGN(auto holder, Open(conformance::Streams(), OptionsFor(url())));
  ASSERT_OK_AND_ASSIGN(auto held, holder->journal().Begin(Soon()));
  auto waiting = std::async(std::launch::async, [this]() -> absl::Status {
    auto transaction = journal().Begin(Soon());
    return transaction.ok() ? (*transaction)->Read({.after = FromTheStart()}).status()
                            : transaction.status();
  });
  ASSERT_TRUE(support::WaitFor(
      [this] { return Value("select count(*) from pg_locks where not granted") != "0"; }, Soon()));
  Run("alter table halo_journal rename to old_journal;"
      "create table halo_journal (like old_journal including all)");
  held.reset();
  EXPECT_THAT(waiting.get(), StatusIs(absl::StatusCode::kUnavailable));
}

TEST_F(TransactionTest, AnIdleHolderLosesTheLockAfterAWhile) {
  auto holder = Prepared("paused");
  ASSERT_OK_AND_ASSIGN(auto other, Open(conformance::Streams(), OptionsFor(url())));
  ASSERT_OK(other->journal().Begin(Soon())) << "five seconds later";
  EXPECT_EQ(holder->Commit(Soon()).kind, Kind::kFailed);
  EXPECT_EQ(CountRows(), "0");
}

// A cluster whose commits wait for a standby that does not exist.
class SynchronousCommitTest : public PostgresTest {
 protected:
  void SetUp() override {
    ASSERT_OK_AND_ASSIGN(cluster_, PostgresCluster::Start());
    UseCluster(*cluster_);
    ASSERT_OK(Migrate(OptionsFor(url())));
  }

  void WaitForStandby(const std::string& name) {
    ASSERT_OK(cluster_->Set("synchronous_standby_names", name));
    cluster_->Reload();
    ASSERT_TRUE(
        support::WaitFor([&] { return Value("show synchronous_standby_names") == name; }, Soon()));
  }

  // Commits a row and, while that waits, does `function` (pg_cancel_backend, ...) to its session.
  CommitOutcome CommitWhile(Transaction& transaction, const std::string& function) {
    auto outcome = std::async(std::launch::async, [&] { return transaction.Commit(Soon()); });
    EXPECT_TRUE(support::WaitFor([this] { return Waiting() == "1"; }, Soon()));
    Run("select " + function + "(pid) from pg_stat_activity where wait_event = 'SyncRep'");
    return outcome.get();
  }
  std::string Waiting() {
    return Value("select count(*) from pg_stat_activity where wait_event = 'SyncRep'");
  }

  std::unique_ptr<PostgresCluster> cluster_;
};

TEST_F(SynchronousCommitTest, ACancelledWaitForTheStandbyIsUnknown) {
  auto transaction = Prepared("one");
  WaitForStandby("ghost");
  const CommitOutcome outcome = CommitWhile(*transaction, "pg_cancel_backend");
  EXPECT_EQ(outcome.kind, Kind::kUnknown);
  EXPECT_THAT(outcome.why, StatusIs(absl::StatusCode::kUnknown, HasSubstr("synchronous")));
  EXPECT_EQ(Value("select count(*) from halo_journal"), "1") << "and yet it is here";
}

TEST_F(SynchronousCommitTest, AKilledSessionInCommitIsUnknown) {
  auto transaction = Prepared("one");
  WaitForStandby("ghost");
  EXPECT_EQ(CommitWhile(*transaction, "pg_terminate_backend").kind, Kind::kUnknown);
  EXPECT_EQ(Value("select count(*) from halo_journal"), "1");
}

TEST_F(SynchronousCommitTest, AKilledSessionInCommitIsUnknownBehindAPoolerToo) {
  ASSERT_OK_AND_ASSIGN(auto bouncer, support::PgBouncer::Start(*cluster_));
  ASSERT_OK_AND_ASSIGN(auto pooled,
                       Open(conformance::Streams(), OptionsFor(bouncer->Through(url()))));
  ASSERT_OK_AND_ASSIGN(auto transaction, pooled->journal().Begin(Soon()));
  ASSERT_OK_AND_ASSIGN(const auto state, transaction->Read({.after = FromTheStart()}));
  ASSERT_OK(transaction->Append(RowBuilder(state).Add(kEvents, "", "one").rows(), {}));
  WaitForStandby("ghost");
  EXPECT_EQ(CommitWhile(*transaction, "pg_terminate_backend").kind, Kind::kUnknown);
  EXPECT_EQ(Value("select count(*) from halo_journal"), "1");
}

TEST_F(SynchronousCommitTest, ACommitThatTakesLongerThanTheDeadlineIsUnknown) {
  ASSERT_OK_AND_ASSIGN(auto transaction, journal().Begin(Deadline::After(std::chrono::seconds(2))));
  ASSERT_OK_AND_ASSIGN(const auto state, transaction->Read({.after = FromTheStart()}));
  ASSERT_OK(transaction->Append(RowBuilder(state).Add(kEvents, "", "one").rows(), {}));
  WaitForStandby("ghost");
  EXPECT_EQ(transaction->Commit(Soon()).kind, Kind::kUnknown);
  EXPECT_EQ(Waiting(), "1") << "it was not cancelled";
  WaitForStandby("");
  EXPECT_TRUE(support::WaitFor([this] { return Value("select count(*) from halo_journal") == "1"; },
                               Soon()));
}

}  // namespace
}  // namespace engine::postgres
