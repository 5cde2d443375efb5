// Replaying a journal of 1,000,000 rows, checked and folded, from Postgres and from segments,
// against `psql` copying the same rows in binary to nowhere. HALO_BENCH_ROWS sets their number.

#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include <benchmark/benchmark.h>
#include <malloc.h>

#include "bench/floors/postgres.h"
#include "bench/support/kills.h"
#include "bench/support/loop.h"
#include "bench/support/report.h"
#include "bench/support/stores.h"

namespace bench {
namespace {

std::size_t Rows() {
  const char* const rows = std::getenv("HALO_BENCH_ROWS");
  return rows == nullptr ? 1'000'000 : std::strtoull(rows, nullptr, 10);
}

// Half the rows are kills and unkills, half their audit entries.
Workbench& Filled(Backend backend) {
  static Workbench* benches[2] = {};
  Workbench*& bench = benches[backend == Backend::kFile ? 0 : 1];
  if (bench == nullptr) {
    bench = new Workbench(backend);
    Laps laps(Rows() / 2);
    RunWriters(*bench->NewCommitter(), 512, laps);
  }
  return *bench;
}

// Of this process, in MiB: VmRSS, or VmHWM, the most that it was.
double Resident(std::string_view which) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(which)) {
      return std::atof(line.c_str() + which.size() + 1) / 1024;
    }
  }
  return 0;
}

// The most so far is what there is now.
void ResetPeak() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
}

void Replay(benchmark::State& state, Backend backend) {
  Workbench& bench = Filled(backend);
  for (auto _ : state) {
    ResetPeak();
    const double resident = Resident("VmRSS");
    const auto main = NewMainFollower();
    const auto audit = NewAuditFollower();
    const engine::Duration began = Now();
    const auto deadline = engine::Deadline::Infinite();
    if (!main->Replay(bench.store().journal(), std::nullopt, deadline).ok() ||
        !audit->Replay(bench.store().journal(), std::nullopt, deadline).ok()) {
      state.SkipWithError("the replay failed");
      break;
    }
    const double seconds = std::chrono::duration<double>(Now() - began).count();
    state.SetIterationTime(seconds);
    state.counters["seconds"] = seconds;
    state.counters["rate"] = static_cast<double>(Rows()) / seconds;
    // What the replay took at most, what is left of it (the state), and the whole process.
    state.counters["peak_mib"] = Resident("VmHWM") - resident;
    state.counters["state_mib"] = Resident("VmRSS") - resident;
    state.counters["process_peak_mib"] = Resident("VmHWM");
  }
}

void Copy(benchmark::State& state) {
  const std::string url = Filled(Backend::kPostgres).url();
  for (auto _ : state) {
    const engine::Duration began = Now();
    CopyToNowhere(url);
    const double seconds = std::chrono::duration<double>(Now() - began).count();
    state.SetIterationTime(seconds);
    state.counters["seconds"] = seconds;
    state.counters["rate"] = static_cast<double>(Rows()) / seconds;
  }
}

void Shape(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Iterations(1)->Repetitions(5)->Unit(benchmark::kMillisecond);
}

BENCHMARK_CAPTURE(Replay, postgres, Backend::kPostgres)->Apply(Shape);
BENCHMARK_CAPTURE(Replay, file, Backend::kFile)->Apply(Shape);
BENCHMARK(Copy)->Name("CopyToNowhere")->Apply(Shape);

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::RunAll(argc, argv,
                       {{"Replay/postgres", "CopyToNowhere"}, {"Replay/file", "CopyToNowhere"}});
}
