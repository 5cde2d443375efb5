// Deadlines nest: what a client gave up on ends on the server, and never commits later.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>

#include "tests/engine/postgres/fixture.h"
#include "tests/support/fault_proxy.h"
#include "tests/support/poll.h"
#include "tests/support/process.h"

namespace engine::postgres {
namespace {

using conformance::FromTheStart;
using conformance::kEvents;
using conformance::RowBuilder;
using support::FaultProxy;
using support::StatusIs;
using Kind = CommitOutcome::Kind;

class DeadlineTest : public PostgresTest {
 protected:
  std::string CountRows() { return Value("select count(*) from halo_journal"); }
};

// The insert and the COMMIT behind it are on their way for longer than anybody waits.
TEST_F(DeadlineTest, ACommitThatComesTooLateDoesNotHappen) {
  ASSERT_OK_AND_ASSIGN(const auto proxy,
                       FaultProxy::Start(support::SharedCluster().socket_directory(),
                                         support::SharedCluster().port()));
  ASSERT_OK_AND_ASSIGN(const auto far,
                       Open(conformance::Streams(), OptionsFor(proxy->Through(url()))));
  ASSERT_OK_AND_ASSIGN(auto transaction,
                       far->journal().Begin(Deadline::After(std::chrono::seconds(2))));
  ASSERT_OK_AND_ASSIGN(const auto state, transaction->Read({.after = FromTheStart()}));
  ASSERT_OK(transaction->Append(RowBuilder(state).Add(kEvents, "", "late").rows(), {}));
  proxy->Hold(FaultProxy::Direction::kToServer);
  EXPECT_EQ(transaction->Commit(Soon()).kind, Kind::kUnknown);
  transaction.reset();
  proxy->Release();
  // The lock is free when the late transaction has ended.
  ASSERT_OK(journal().Begin(Soon()));
  EXPECT_EQ(CountRows(), "0");
}

TEST_F(DeadlineTest, AStatementMayNotRunLongerThanTheClientWaits) {
  Run("create table seen (ms int);"
      "create function look() returns trigger language plpgsql as $$ begin"
      " insert into public.seen select setting::int from pg_settings"
      "  where name = 'statement_timeout'; return null; end $$;"
      "create trigger look after insert on halo_journal execute function look()");
  ASSERT_OK_AND_ASSIGN(auto transaction,
                       journal().Begin(Deadline::After(std::chrono::seconds(20))));
  ASSERT_OK_AND_ASSIGN(const auto state, transaction->Read({.after = FromTheStart()}));
  ASSERT_OK(transaction->Append(RowBuilder(state).Add(kEvents, "", "x").rows(), {}));
  ASSERT_EQ(transaction->Commit(Soon()).kind, Kind::kCommitted);
  EXPECT_EQ(Value("select ms between 1 and 19900 from seen"), "t") << Value("select ms from seen");
}

TEST_F(DeadlineTest, ALockThatIsNotFreeInTimeLeavesTheConnectionSound) {
  Options options = OptionsFor(url());
  options.stats = std::make_shared<Stats>();
  ASSERT_OK_AND_ASSIGN(const auto other, Open(conformance::Streams(), options));
  const auto holder = Prepared("holder");
  EXPECT_THAT(other->journal().Begin(Deadline::After(std::chrono::seconds(1))),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_EQ(options.stats->errors(DbError::kTimeout), 1U);
  EXPECT_EQ(options.stats->errors(DbError::kLost), 0U);
  const std::uint64_t connects = options.stats->connects;
  EXPECT_EQ(holder->Commit(Soon()).kind, Kind::kCommitted);
  EXPECT_OK(other->journal().Begin(Soon()));
  EXPECT_EQ(options.stats->connects, connects);
}

constexpr char kUrlVariable[] = "HALO_TEST_STOPPED_HOLDER";

// Not a test of its own: the process that the next one stops.
TEST(DISABLED_StoppedHolder, HoldsTheLock) {
  const char* url = std::getenv(kUrlVariable);
  ASSERT_NE(url, nullptr);
  ASSERT_OK_AND_ASSIGN(const auto engine, Open(conformance::Streams(), OptionsFor(url)));
  ASSERT_OK_AND_ASSIGN(auto transaction,
                       engine->journal().Begin(Deadline::After(std::chrono::minutes(5))));
  ASSERT_OK_AND_ASSIGN(const auto state, transaction->Read({.after = FromTheStart()}));
  ASSERT_OK(transaction->Append(RowBuilder(state).Add(kEvents, "", "stopped").rows(), {}));
  std::printf("holding\n");
  std::fflush(stdout);
  std::raise(SIGSTOP);
  const CommitOutcome outcome = transaction->Commit(Soon());
  std::printf("outcome %s\n", outcome.kind == Kind::kFailed ? "failed" : "other");
}

TEST_F(DeadlineTest, AStoppedProcessWithTheLockKeepsOthersOutForFiveSecondsOnly) {
  ASSERT_OK_AND_ASSIGN(
      const auto holder,
      support::Process::Start(
          {.argv = {std::filesystem::read_symlink("/proc/self/exe"),
                    "--gtest_filter=DISABLED_StoppedHolder.*", "--gtest_also_run_disabled_tests"},
           .env = {std::string(kUrlVariable) + "=" + url()}}));
  ASSERT_OK(holder->WaitForLine("holding", Soon()));
  // Generous: the limit is five seconds, and without one it would be five minutes.
  EXPECT_OK(journal().Begin(Deadline::After(std::chrono::seconds(60))));
  EXPECT_EQ(Prepared("others")->Commit(Soon()).kind, Kind::kCommitted);
  holder->Signal(SIGCONT);
  ASSERT_OK(holder->WaitForLine("outcome failed", Soon()));
  EXPECT_EQ(CountRows(), "1");
}

}  // namespace
}  // namespace engine::postgres
