// Reading at `latest`: readers that share flights, against each reader's own tail query.

#include <benchmark/benchmark.h>

#include "bench/floors/postgres.h"
#include "bench/support/kills.h"
#include "bench/support/loop.h"
#include "bench/support/report.h"
#include "bench/support/stores.h"
#include "engine/coalescer.h"

namespace bench {
namespace {

// Filled once: 10,000 commands, so that the tables are not empty.
Workbench& Filled() {
  static Workbench& bench = *[] {
    auto* const made = new Workbench(Backend::kPostgres);
    Laps laps(10'000);
    RunWriters(*made->NewCommitter(), 64, laps);
    return made;
  }();
  return bench;
}

// Reads again from within its own answer, so that it is in the very next flight.
void ReadAgain(engine::Coalescer& coalescer, Laps& laps) {
  if (!laps.Take()) {
    return;
  }
  coalescer.Join([&coalescer, &laps, began = Now()](const absl::StatusOr<engine::ViewPtr>& view) {
    engine::Tx tx = (*view)->tx;
    benchmark::DoNotOptimize(tx);
    laps.Done(began);
    ReadAgain(coalescer, laps);
  });
}

void Coalesced(benchmark::State& state) {
  const int readers = static_cast<int>(state.range(0));
  const std::size_t reads = readers == 1 ? 20'000 : 200'000;
  for (auto _ : state) {
    Workbench& bench = Filled();
    engine::Coalescer coalescer(bench.store().journal(), bench.follower(), {});
    Laps laps(reads);
    const engine::Duration began = Now();
    for (int i = 0; i < readers; ++i) {
      ReadAgain(coalescer, laps);
    }
    laps.Wait();
    laps.Report(state, began);
    state.counters["queries_per_read"] =
        static_cast<double>(coalescer.counters().flights) / static_cast<double>(reads);
  }
}

void Direct(benchmark::State& state) {
  for (auto _ : state) {
    const std::string url = Filled().url();
    Laps laps(20'000);
    const engine::Duration began = Now();
    DirectTail(url, static_cast<int>(state.range(0)), laps);
    laps.Report(state, began);
  }
}

// One catch-up with `range(0)` new transactions of two rows.
void CatchUp(benchmark::State& state) {
  Workbench bench(Backend::kPostgres);
  const auto news = static_cast<std::size_t>(state.range(0));
  if (news > 0) {
    Laps laps(news);
    RunWriters(*bench.NewCommitter(), 64, laps);
  }
  for (auto _ : state) {
    state.PauseTiming();
    const auto follower = NewMainFollower();
    const engine::Cursors cursors = news > 0 ? follower->cursors() : bench.follower().cursors();
    state.ResumeTiming();
    const auto read = bench.store().journal().ReadAfter(
        cursors, engine::Deadline::After(std::chrono::seconds(10)));
    follower->Deliver(*read);
  }
}

void Shape(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Iterations(1)->Repetitions(5);
}

BENCHMARK(Coalesced)->Arg(1)->Arg(64)->Arg(256)->Apply(Shape);
BENCHMARK(Direct)->Name("DirectTail")->Arg(1)->Arg(64)->Apply(Shape);
BENCHMARK(CatchUp)->Arg(0)->Arg(1000)->UseRealTime();

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::RunAll(argc, argv,
                       {{"Coalesced/1", "DirectTail/1"},
                        {"Coalesced/64", "DirectTail/64"},
                        {"Coalesced/256", "DirectTail/64"}});
}
