// Reading beside writes, against a server of the first seed's relational layout; and what a long
// search does to writes and to reads that have to be proven.
//
// The sides are those of bench/peers/over_http.cc: servers, asked over HTTP.
//
// Reads beside writes: wrk reads with 16 connections, as fast as it is answered, while two writers
// change resources on the same side. A change is a PATCH of a spec and a report of each of the two
// adapters about it: three requests, each a transaction that is acknowledged when it is durable. On
// our side each goes through the committer with its audit entry (a PATCH), on the other through the
// seed's transactions (bench/peers/relational.h).
//   <read>/20  20 changes a second on each side, so that both carry the same load; `write_rate`
//   says
//              whether they did
//   Get/0      one change after the other: reads and writes compete
// `rate`, `p50_us` and `p99_us` are of the reads, those with `write_` of the writers' requests.
//
// A long search, on our side alone: four clients that each read the kill list 50 times a second,
// which has to be proven, and 20 changes a second, beside clients that search all resources for
// what has no index, one search after the other (`search_`), against the same without them. On a
// machine with two processors one search has one of them; with four clients there are none to
// spare.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include <absl/strings/str_format.h>
#include <benchmark/benchmark.h>

#include "bench/peers/http_sides.h"
#include "bench/peers/kinds.h"
#include "bench/support/report.h"
#include "engine/base/logging.h"

namespace bench {
namespace {

constexpr int kConnections = 16;
constexpr int kChanges = 20;  // A second.
constexpr int kProvenClients = 4;
constexpr engine::Duration kProvenApart = std::chrono::milliseconds(20);
constexpr engine::Duration kSearched = std::chrono::seconds(2);

void Count(benchmark::State& state, const std::string& of, const LoopSummary& summary) {
  state.counters[of + "rate"] = summary.rate;
  state.counters[of + "p50_us"] = summary.p50_us;
  state.counters[of + "p99_us"] = summary.p99_us;
}

void ReadBesideWrites(benchmark::State& state, HttpSides& sides, Side side,
                      const HttpReads& reads) {
  for (auto _ : state) {
    const auto writers = sides.StartWriters(side, static_cast<int>(state.range(0)));
    const WrkResult result = sides.Read(side, reads, kConnections);
    Count(state, "write_", writers->Stop());
    state.SetIterationTime(1 / result.rate);
    state.counters["rate"] = result.rate;
    state.counters["p50_us"] = result.p50_us;
    state.counters["p99_us"] = result.p99_us;
  }
}

void BesideSearches(benchmark::State& state, HttpSides& sides) {
  const std::string& url = sides.url(Side::kHalo);
  for (auto _ : state) {
    const auto writers = sides.StartWriters(Side::kHalo, kChanges);
    Background proven(
        url, {.clients = kProvenClients, .apart = kProvenApart}, [](const Background::Ask& ask) {
          ask({.path = "/api/v1/killswitch", .headers = support::HaloServer::Admin()});
        });
    const int searchers = static_cast<int>(state.range(0));
    Background searches(url, {.clients = searchers}, [](const Background::Ask& ask) {
      ask({.path = LongSearch(), .headers = {{kSystemHeader, "true"}}});
    });
    Pause(kSearched);
    Count(state, "write_", writers->Stop());
    Count(state, "proven_", proven.Stop());
    if (searchers > 0) {
      Count(state, "search_", searches.Stop());
    }
    state.SetIterationTime(std::chrono::duration<double>(kSearched).count());
  }
}

void Shape(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Iterations(1)->Repetitions(3)->Unit(benchmark::kMicrosecond);
}

std::vector<int> ChangesBeside(const HttpReads& reads) {
  return reads.name == "Get" ? std::vector<int>{kChanges, 0} : std::vector<int>{kChanges};
}

std::vector<Pair> RegisterAll(HttpSides& sides) {
  std::vector<Pair> pairs;
  for (const HttpReads& reads : ReadsOverHttp()) {
    for (const Side side : {Side::kHalo, Side::kRelational}) {
      auto* const bench =
          benchmark::RegisterBenchmark((NameOf(side) + "_" + reads.name).c_str(),
                                       [&sides, side, reads](benchmark::State& state) {
                                         ReadBesideWrites(state, sides, side, reads);
                                       });
      for (const int changes : ChangesBeside(reads)) {
        bench->Arg(changes);
      }
      bench->Apply(Shape);
    }
    for (const int changes : ChangesBeside(reads)) {
      const std::string end = absl::StrFormat("_%s/%d", reads.name, changes);
      pairs.push_back({"halo" + end, "relational" + end});
    }
  }
  benchmark::RegisterBenchmark("beside_searches",
                               [&sides](benchmark::State& state) { BesideSearches(state, sides); })
      ->Arg(0)
      ->Arg(1)
      ->Arg(4)
      ->Apply(Shape);
  for (const int clients : {1, 4}) {
    pairs.push_back({absl::StrFormat("beside_searches/%d", clients), "beside_searches/0"});
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
