// Reading resources over HTTP, against a server of the first seed's relational layout.
//
// What is compared, by wrk on one thread with 16 and 64 connections, each of which asks again as
// soon as it is answered:
//   halo        a real halo-server process: what a request goes through in production, at `latest`,
//               with kinds, tenants and conditions as in FleetConfig(), logging warnings
//   relational  bench/peers/front.h: our own HTTP room before the seed's statements, with the
//               number of connections that was the best; it does less for each request than a
//               server has to, the seed's or ours
// Requests are the same bytes on both sides, answers the same documents. Both have the same fleet,
// and Postgres, of bench/peers/cluster.h; all of it and wrk share the processors. GET asks for
// 10,000 ids in turn. Before anything is measured the lists of both sides, and a document before
// and after a change, are compared.

#include <string>
#include <vector>

#include <absl/strings/str_format.h>
#include <benchmark/benchmark.h>

#include "bench/peers/http_sides.h"
#include "bench/support/report.h"
#include "engine/base/logging.h"

namespace bench {
namespace {

constexpr int kConnections[] = {16, 64};

void Read(benchmark::State& state, HttpSides& sides, Side side, const HttpReads& reads) {
  for (auto _ : state) {
    const WrkResult result = sides.Read(side, reads, static_cast<int>(state.range(0)));
    state.SetIterationTime(1 / result.rate);
    state.counters["rate"] = result.rate;
    state.counters["p50_us"] = result.p50_us;
    state.counters["p99_us"] = result.p99_us;
  }
}

std::vector<Pair> RegisterAll(HttpSides& sides) {
  std::vector<Pair> pairs;
  for (const HttpReads& reads : ReadsOverHttp()) {
    for (const Side side : {Side::kHalo, Side::kRelational}) {
      auto* const bench = benchmark::RegisterBenchmark(
          (NameOf(side) + "_" + reads.name).c_str(),
          [&sides, side, reads](benchmark::State& state) { Read(state, sides, side, reads); });
      bench->UseManualTime()->Iterations(1)->Repetitions(3)->Unit(benchmark::kMicrosecond);
      for (const int connections : kConnections) {
        bench->Arg(connections);
      }
    }
    for (const int connections : kConnections) {
      const std::string end = absl::StrFormat("_%s/%d", reads.name, connections);
      pairs.push_back({"halo" + end, "relational" + end});
    }
  }
  return pairs;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  engine::SetLogLevel(engine::Severity::kError);
  bench::HttpSides sides;
  return bench::RunAll(argc, argv, bench::RegisterAll(sides));
}
