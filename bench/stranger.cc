// What a stranger costs who keeps old snapshots: appends and tails beside one, against the same
// beside nobody, after 20,000 appends each. Two servers, so that one arm's stranger is none of the
// other's; the repetitions of both are interleaved.

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include <benchmark/benchmark.h>

#include "bench/support/kills.h"
#include "bench/support/loop.h"
#include "bench/support/or_die.h"
#include "bench/support/report.h"
#include "bench/support/stores.h"
#include "tests/support/poll.h"
#include "tests/support/postgres.h"
#include "tests/support/process.h"
#include "tests/support/session.h"

namespace bench {
namespace {

constexpr std::size_t kAppends = 20'000;
constexpr int kParked = 50;

// Idle in a transaction in this database and in another one, a dump that does not come to its
// end, and 50 sessions that do nothing.
class Stranger {
 public:
  Stranger(const support::PostgresCluster& cluster, const std::string& url)
      : elsewhere_url_(OrDie(cluster.CreateDatabase("elsewhere"))),
        here_(url),
        elsewhere_(elsewhere_url_),
        dump_(OrDie(support::Process::Start({.argv = {"pg_dump", "--dbname", url}}))) {
    for (support::Session* session : {&here_, &elsewhere_}) {
      session->Run("begin isolation level repeatable read");
      session->Run("select count(*) from pg_class");
    }
    // It has its snapshot and its locks, and stays.
    const std::string dumping =
        "select count(*) from pg_stat_activity where application_name = 'pg_dump'"
        " and backend_xmin is not null";
    support::WaitFor([&] { return *support::SqlValue(url, dumping) == "1" || !dump_->Running(); },
                     engine::Deadline::After(std::chrono::seconds(20)),
                     std::chrono::milliseconds(1));
    dump_->Signal(SIGSTOP);
    if (*support::SqlValue(url, dumping) != "1") {
      std::fprintf(stderr, "pg_dump was over before it could be stopped\n");
      std::exit(1);
    }
    for (int i = 0; i < kParked; ++i) {
      parked_.push_back(std::make_unique<support::Session>(i % 2 == 0 ? url : elsewhere_url_));
    }
  }

 private:
  std::string elsewhere_url_;
  support::Session here_;
  support::Session elsewhere_;
  std::unique_ptr<support::Process> dump_;
  std::vector<std::unique_ptr<support::Session>> parked_;
};

// A journal that got its appends while the stranger was there, or nobody.
struct Arm {
  explicit Arm(bool with_stranger)
      : cluster(OrDie(support::PostgresCluster::Start())),
        bench(OrDie(cluster->CreateDatabase("arm"))) {
    Laps some(200);
    RunWriters(*bench.NewCommitter(), 16, some);
    if (with_stranger) {
      stranger = std::make_unique<Stranger>(*cluster, bench.url());
    }
    Laps laps(kAppends);
    RunWriters(*bench.NewCommitter(), 64, laps);
  }

  std::unique_ptr<support::PostgresCluster> cluster;
  Workbench bench;
  std::unique_ptr<Stranger> stranger;
};

Arm& TheArm(bool with_stranger) {
  static Arm alone(false);
  static Arm beside(true);
  return with_stranger ? beside : alone;
}

void Append(benchmark::State& state, bool with_stranger) {
  for (auto _ : state) {
    Arm& arm = TheArm(with_stranger);
    const auto committer = arm.bench.NewCommitter();
    Laps laps(2'000);
    const engine::Duration began = Now();
    RunWriters(*committer, 1, laps);
    laps.Report(state, began);
  }
}

void Tail(benchmark::State& state, bool with_stranger) {
  for (auto _ : state) {
    Arm& arm = TheArm(with_stranger);
    const engine::Cursors cursors = arm.bench.follower().cursors();
    Laps laps(5'000);
    const engine::Duration began = Now();
    while (laps.Take()) {
      const engine::Duration asked = Now();
      OrDie(arm.bench.store().journal().ReadAfter(cursors, engine::Deadline::Infinite()));
      laps.Done(asked);
    }
    laps.Wait();
    laps.Report(state, began);
  }
}

void Shape(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Iterations(1)->Repetitions(9);
}

BENCHMARK_CAPTURE(Append, beside_a_stranger, true)->Apply(Shape);
BENCHMARK_CAPTURE(Append, alone, false)->Apply(Shape);
BENCHMARK_CAPTURE(Tail, beside_a_stranger, true)->Apply(Shape);
BENCHMARK_CAPTURE(Tail, alone, false)->Apply(Shape);

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::RunAll(
      argc, argv,
      {{"Append/beside_a_stranger", "Append/alone"}, {"Tail/beside_a_stranger", "Tail/alone"}});
}
