// Leaders that are stopped in the middle of their work and go on when somebody else leads: real
// processes, real signals. Each worker is this program again, with the environment saying so.

#include <csignal>
#include <cstdlib>
#include <map>

#include <absl/strings/str_format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "engine/base/status_macros.h"
#include "engine/elector.h"
#include "engine/postgres/address.h"
#include "engine/postgres/leases.h"
#include "engine/postgres/session.h"
#include "tests/engine/postgres/fixture.h"
#include "tests/support/poll.h"
#include "tests/support/process.h"

namespace engine::postgres {
namespace {

constexpr char kWorkerUrl[] = "HALO_TEST_LEASE_WORKER";
constexpr int kWorkers = 3;
constexpr int kRounds = 8;
constexpr Duration kTtl = std::chrono::seconds(1);

// Writes rows under the fence of its terms, one transaction each.
class Worker {
 public:
  explicit Worker(const std::string& url)
      : url_(url), engine_(*Open(conformance::Streams(), OptionsFor(url))) {}

  [[noreturn]] void Work() {
    const Elector elector(engine_->leases(), {.lease = "controller", .ttl = kTtl},
                          [this](Term& term) {
                            while (!term.WaitUntilEnded(Deadline::After(kPause)) && term.valid()) {
                              Write(term.fence()).IgnoreError();
                            }
                          });
    for (;;) {
      pause();
    }
  }

 private:
  static constexpr Duration kPause = std::chrono::milliseconds(2);

  absl::Status Connect() {
    if (connection_ == nullptr || connection_->broken()) {
      ASSIGN_OR_RETURN(auto servers, ParseAddress(url_, false, "worker"));
      Options options = OptionsFor(url_);
      options.stats = std::make_shared<Stats>();
      const Connector connector(std::move(servers), Pooler::kAuto, options);
      ASSIGN_OR_RETURN(connection_, connector.Connect(statements_, Soon()));
    }
    return absl::OkStatus();
  }

  absl::Status Write(const Fence& fence) {
    RETURN_IF_ERROR(Connect());
    Params settings;
    settings.Text("2000").Text("10000").Text(statements_.schema_path);
    const RunOutcome judged =
        connection_->Run({{statements_.begin, {}},
                          {statements_.settings, std::move(settings)},
                          {statements_.fence_lock, FenceLockParams({fence})},
                          {statements_.fence_judge, FenceJudgeParams({fence})}},
                         Soon());
    if (!judged.status.ok() || !FencesOf({fence}, judged.results[3]).at(0).ok()) {
      connection_->Close();
      return judged.status;
    }
    Params effect;
    effect.Int64(static_cast<std::int64_t>(fence.token)).Int64(getpid());
    const Statement insert{"", "insert into effects (token, pid) values ($1::int8, $2::int8)"};
    return connection_->Run({{insert, std::move(effect)}, {statements_.commit, {}}}, Soon()).status;
  }

  const std::string url_;
  const std::unique_ptr<Engine> engine_;
  const Statements statements_{"public"};
  std::unique_ptr<Connection> connection_;
};

TEST(PausedLeaderWorker, RunsWhenItIsOne) {
  const char* url = std::getenv(kWorkerUrl);
  if (url == nullptr) {
    GTEST_SKIP() << "no worker";
  }
  Worker(url).Work();
}

class PausedLeaderTest : public PostgresTest {
 protected:
  void StartWorkers() {
    for (int i = 0; i < kWorkers; ++i) {
      auto worker = support::Process::Start(
          {.argv = {"/proc/self/exe", "--gtest_filter=PausedLeaderWorker.*"},
           .env = {std::string(kWorkerUrl) + "=" + url()}});
      ASSERT_OK(worker);
      const pid_t pid = (*worker)->pid();
      workers_[pid] = *std::move(worker);
    }
  }

  struct Row {
    std::int64_t token = 0;
    pid_t pid = 0;
  };
  Row Newest() {
    const auto rows =
        support::Sql(url(), "select token, pid from effects order by seq desc limit 1");
    EXPECT_OK(rows);
    if (!rows.ok() || rows->empty()) {
      return {};
    }
    return {std::atoll((*rows)[0][0].c_str()), std::atoi((*rows)[0][1].c_str())};
  }
  // Waits for a row of a term after `token`.
  Row NewestAfter(std::int64_t token) {
    EXPECT_TRUE(support::WaitFor([&] { return Newest().token > token; },
                                 Deadline::After(std::chrono::seconds(60))));
    return Newest();
  }

  std::map<pid_t, std::unique_ptr<support::Process>> workers_;
};

TEST_F(PausedLeaderTest, NothingIsWrittenByALeaderThatWasReplaced) {
  Run("create table effects (seq bigserial primary key, token bigint, pid bigint)");
  StartWorkers();
  NewestAfter(0);
  for (int paused = 0; paused < kRounds && !HasFailure();) {
    const Row leader = Newest();
    ASSERT_TRUE(workers_.contains(leader.pid)) << leader.pid;
    workers_[leader.pid]->Signal(SIGSTOP);
    if (Newest().pid == leader.pid) {
      // Wherever it was stopped, in a transaction too, somebody else leads after a while.
      EXPECT_NE(NewestAfter(Newest().token).pid, leader.pid);
      ++paused;
    }
    workers_[leader.pid]->Signal(SIGCONT);
  }
  for (auto& [pid, worker] : workers_) {
    EXPECT_TRUE(worker->Running()) << worker->Stderr();
  }
  // A row is written under the lock of the lease, so that their numbers are in the order of the
  // terms, if a term never writes after its successor.
  EXPECT_EQ(Value("select count(*) from (select token, lag(token) over (order by seq) as before"
                  " from effects) e where token < before"),
            "0");
  EXPECT_EQ(
      Value("select max(n) from (select count(distinct pid) n from effects group by token) t"),
      "1");
  EXPECT_GT(std::atoi(Value("select count(distinct token) from effects").c_str()), kRounds);
}

}  // namespace
}  // namespace engine::postgres
