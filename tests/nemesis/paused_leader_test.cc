// Leaders that are stopped in the middle of their work and go on when somebody else leads: real
// processes, real signals, a hundred times. Each worker is this program again, with the environment
// saying so; it writes through the fenced writer and the committer, as background work does, and
// never asks whether its term still lasts.
//
// The database is the judge: a trigger notes each version of the lease, so that expiry, takeover
// and writes are compared on one clock, its own.

#include <cstdio>
#include <cstdlib>
#include <map>

#include <absl/strings/str_format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include "engine/base/thread.h"
#include "engine/elector.h"
#include "engine/fenced.h"
#include "engine/postgres/migrate.h"
#include "engine/postgres/postgres.h"
#include "tests/support/poll.h"
#include "tests/support/postgres.h"
#include "tests/support/process.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_commands.h"

namespace nemesis {
namespace {

using engine::Deadline;
using engine::Duration;

constexpr char kWorkerUrl[] = "HALO_TEST_LEASE_WORKER";
constexpr Duration kTtl = std::chrono::seconds(1);
// Each has a database of its own, so that a leader that is stopped while it holds the journal's
// lock holds up its own successor only.
constexpr int kGroups = 5;
constexpr int kRoundsEach = 20;
constexpr int kWorkersEach = 2;
// What a takeover may take once the lease has expired (docs/operations.md): a holder that was
// stopped inside a transaction keeps the lease's row for 5 s, then comes one round of the campaign;
// the rest is for a machine that is busy with something else.
constexpr char kTakeover[] = "16 seconds";

engine::postgres::Options OptionsFor(const std::string& url) {
  engine::postgres::Options options;
  options.url = url;
  return options;
}

void Pause(Duration time) {
  support::WaitFor([] { return false; }, Deadline::After(time), time);
}

engine::Catalogue FencedThings() {
  engine::Catalogue streams = support::Streams();
  streams.back().fenced = true;
  return streams;
}

class Worker {
 public:
  explicit Worker(const std::string& url)
      : engine_(*engine::postgres::Open(FencedThings(), OptionsFor(url))),
        follower_(Things()),
        committer_(engine_->journal(), follower_, nullptr, {}) {}

  [[noreturn]] void Work() {
    const engine::Elector elector(engine_->leases(), {.lease = "controller", .ttl = kTtl},
                                  [this](engine::Term& term) { WriteUntilFenced(term.fence()); });
    for (;;) {
      pause();
    }
  }

 private:
  static std::vector<std::unique_ptr<engine::Projection>> Things() {
    std::vector<std::unique_ptr<engine::Projection>> things;
    things.push_back(std::make_unique<support::ToyProjection>());
    return things;
  }

  void WriteUntilFenced(const engine::Fence& fence) {
    engine::FencedWriter writer(committer_, fence);
    const std::string value = absl::StrFormat("%d %d", fence.token, getpid());
    while (!writer.ended()) {
      const engine::FencedOutcome outcome = writer.Write(
          [&value](const engine::DecideContext& context,
                   const engine::InTerm&) -> absl::StatusOr<engine::Proposal> {
            support::ToyWork work(context);
            work.Put("leader", value);
            return std::move(work).proposal();
          },
          support::Soon());
      Pause(std::chrono::milliseconds(outcome.status.ok() ? 20 : 1));
    }
    std::printf("fenced %llu.\n", static_cast<unsigned long long>(fence.token));
    std::fflush(stdout);
  }

  const std::unique_ptr<engine::Engine> engine_;
  engine::Follower follower_;
  engine::Committer committer_;
};

TEST(PausedLeaderWorker, RunsWhenItIsOne) {
  const char* url = std::getenv(kWorkerUrl);
  if (url == nullptr) {
    GTEST_SKIP() << "no worker";
  }
  Worker(url).Work();
}

// Workers on one database, and what it remembers of them.
class Group {
 public:
  struct Row {
    std::uint64_t token = 0;
    pid_t pid = 0;
  };

  void Open() {
    ASSERT_OK_AND_ASSIGN(url_, support::SharedCluster().CreateDatabase("leaders"));
    ASSERT_OK(engine::postgres::Migrate(OptionsFor(url_)));
    Run("create table terms (seq bigserial primary key, token bigint, expires timestamptz,"
        " at timestamptz default clock_timestamp());"
        "create function note() returns trigger language plpgsql as $$ begin"
        " insert into public.terms (token, expires) values (new.token, new.expires_at);"
        " return new; end $$;"
        "create trigger note after insert or update on halo_leases for each row"
        " execute function note();"
        "create view writes as select j.position, j.at,"
        " split_part(convert_from(j.record, 'UTF8'), ' ', 1)::int8 as token,"
        " split_part(convert_from(j.record, 'UTF8'), ' ', 2)::int8 as pid"
        " from halo_journal j where j.stream_id = 3");
    for (int i = 0; i < kWorkersEach; ++i) {
      ASSERT_OK_AND_ASSIGN(auto worker,
                           support::Process::Start(
                               {.argv = {"/proc/self/exe", "--gtest_filter=PausedLeaderWorker.*"},
                                .env = {std::string(kWorkerUrl) + "=" + url_}}));
      const pid_t pid = worker->pid();
      workers_[pid] = std::move(worker);
    }
  }

  void RunRounds() {
    NewestAfter(0);
    for (int paused = 0; paused < kRoundsEach && !testing::Test::HasFailure();) {
      const Row leader = Newest();
      ASSERT_TRUE(workers_.contains(leader.pid)) << leader.pid;
      support::Process& process = *workers_[leader.pid];
      process.Signal(SIGSTOP);
      const Row stopped = Newest();
      if (stopped.pid == leader.pid) {
        // Wherever it was stopped, in a transaction too, the other one leads after a while.
        EXPECT_NE(NewestAfter(stopped.token).pid, leader.pid);
        ++paused;
      }
      process.Signal(SIGCONT);
      if (stopped.pid == leader.pid) {
        EXPECT_OK(process.WaitForLine(absl::StrFormat("fenced %d.", stopped.token), Patience()));
      }
    }
  }

  void Judge() {
    for (auto& [pid, worker] : workers_) {
      EXPECT_TRUE(worker->Running()) << worker->Stderr();
    }
    workers_.clear();
    EXPECT_GT(std::atoi(Value("select count(distinct token) from writes").c_str()), kRoundsEach);
    EXPECT_EQ(Value("select max(n) from (select count(distinct pid) n from writes group by token)"
                    " t"),
              "1")
        << "a token was two workers'";
    EXPECT_EQ(Value("select count(*) from (select token, lag(token) over (order by position) as"
                    " before from writes) w where token < before"),
              "0")
        << "a term wrote after its successor";
    EXPECT_EQ(Value("select count(*) from writes w where w.at >= (select max(t.expires) from terms"
                    " t where t.token = w.token)"),
              "0")
        << "a term wrote after its end";
    JudgeTakeovers();
  }

 private:
  static Deadline Patience() { return Deadline::After(std::chrono::minutes(1)); }

  // Between the last end that a term was given and the beginning of the next one.
  void JudgeTakeovers() {
    Run("create table takeovers as select b.began - a.ended as took from"
        " (select token, lead(token) over (order by token) as next,"
        "  (array_agg(expires order by seq desc))[1] as ended from terms group by token) a"
        " join (select token, min(at) as began from terms group by token) b on b.token = a.next");
    EXPECT_EQ(Value("select count(*) from takeovers where took < '0 s'"), "0")
        << "a term began before the one before it was over";
    EXPECT_EQ(Value(absl::StrFormat("select count(*) from takeovers where took > '%s'", kTakeover)),
              "0")
        << "the slowest: " << Value("select max(took) from takeovers");
  }

  std::string Value(const std::string& sql) {
    const auto value = support::SqlValue(url_, sql);
    EXPECT_OK(value) << sql;
    return value.ok() ? *value : "";
  }
  void Run(const std::string& sql) { EXPECT_OK(support::Sql(url_, sql)) << sql; }

  Row Newest() {
    const auto rows =
        support::Sql(url_, "select token, pid from writes order by position desc limit 1");
    EXPECT_OK(rows);
    if (!rows.ok() || rows->empty()) {
      return {};
    }
    return {std::strtoull((*rows)[0][0].c_str(), nullptr, 10), std::atoi((*rows)[0][1].c_str())};
  }
  // Waits for a write of a term after `token`.
  Row NewestAfter(std::uint64_t token) {
    EXPECT_TRUE(support::WaitFor([&] { return Newest().token > token; }, Patience(),
                                 std::chrono::milliseconds(50)));
    return Newest();
  }

  std::string url_;
  std::map<pid_t, std::unique_ptr<support::Process>> workers_;
};

TEST(PausedLeaderTest, NothingIsWrittenByALeaderThatWasReplaced) {
  std::vector<Group> groups(kGroups);
  for (Group& group : groups) {
    ASSERT_NO_FATAL_FAILURE(group.Open());
  }
  std::vector<engine::Thread> threads;
  for (Group& group : groups) {
    threads.emplace_back("rounds", [&group] { group.RunRounds(); });
  }
  threads.clear();
  for (Group& group : groups) {
    group.Judge();
  }
}

}  // namespace
}  // namespace nemesis
