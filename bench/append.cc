// Appending through the committer: commands that each write a record and an audit entry, judged,
// sealed and committed, against one transaction a record.

#include <benchmark/benchmark.h>

#include "bench/floors/postgres.h"
#include "bench/support/kills.h"
#include "bench/support/loop.h"
#include "bench/support/report.h"
#include "bench/support/stores.h"

namespace bench {
namespace {

std::size_t Commands(int writers) {
  return writers == 1 ? 2'000 : writers == 16 ? 20'000 : 40'000;
}

void Append(benchmark::State& state, Backend backend) {
  const int writers = static_cast<int>(state.range(0));
  for (auto _ : state) {
    Workbench bench(backend);
    const auto committer = bench.NewCommitter();
    Laps laps(Commands(writers));
    const engine::Duration began = Now();
    RunWriters(*committer, writers, laps);
    laps.Report(state, began);
    const auto counters = committer->counters();
    state.counters["batch"] =
        static_cast<double>(counters.commands) / static_cast<double>(counters.batches);
  }
}

void Floor(benchmark::State& state) {
  const int writers = static_cast<int>(state.range(0));
  for (auto _ : state) {
    const std::string url = NewDatabase();
    Laps laps(2'000);
    const engine::Duration began = Now();
    OneTransactionARecord(url, writers, laps);
    laps.Report(state, began);
  }
}

void Shape(benchmark::internal::Benchmark* bench) {
  bench->Arg(1)->Arg(16)->Arg(64)->UseManualTime()->Iterations(1)->Repetitions(5);
}

BENCHMARK_CAPTURE(Append, postgres, Backend::kPostgres)->Apply(Shape);
BENCHMARK_CAPTURE(Append, file, Backend::kFile)->Apply(Shape);
BENCHMARK(Floor)->Name("OneTransactionARecord")->Apply(Shape);

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::RunAll(argc, argv,
                       {{"Append/postgres/1", "OneTransactionARecord/1"},
                        {"Append/postgres/16", "OneTransactionARecord/16"},
                        {"Append/postgres/64", "OneTransactionARecord/64"},
                        {"Append/file/64", "OneTransactionARecord/64"}});
}
