// One resource over HTTP, GET at `latest` and `cached` and POST, 64 connections on one thread of
// wrk, against nginx answering the same number of bytes. A real server process on Postgres.

#include <cstdio>
#include <cstdlib>

#include <absl/strings/str_format.h>
#include <benchmark/benchmark.h>

#include "bench/floors/nginx.h"
#include "bench/support/or_die.h"
#include "bench/support/report.h"
#include "tests/e2e/fleet.h"
#include "tests/support/halo_server.h"

namespace bench {
namespace {

// A server with 1,000 clusters, one of which is read.
struct Served {
  std::unique_ptr<support::TestStore> store = OrDie(support::TestStore::OnPostgres());
  std::unique_ptr<support::HaloServer> server = OrDie(support::HaloServer::Start(*store));
  std::string path;
  std::string body;

  Served() {
    support::HttpClient client(server->url());
    for (int i = 0; i < 1'000; ++i) {
      const auto created = OrDie(
          client.Post(e2e::kClusters, e2e::ClusterBody(absl::StrFormat("cluster-%d", i), i % 9)));
      if (created.status != 201) {
        std::fprintf(stderr, "%s\n", created.body.c_str());
        std::exit(1);
      }
      body = created.body;
      path = std::string(e2e::kClusters) + "/" + e2e::Text(created.body, "id");
    }
  }
};

Served& TheServer() {
  static Served served;
  return served;
}

Nginx& TheFloor() {
  static Nginx nginx(TheServer().body);
  return nginx;
}

// Requests a second as wrk counts them; `script` is Lua, or empty.
double Load(const std::string& url, const std::string& script) {
  std::vector<std::string> argv = {"wrk", "-t1", "-c64", "-d3s"};
  if (!script.empty()) {
    argv.insert(argv.end(),
                {"-s", OrDie(TheServer().store->directory().Write("load.lua", script))});
  }
  argv.push_back(url);
  const auto done =
      OrDie(support::RunProcess({.argv = argv}, engine::Deadline::After(std::chrono::seconds(30))));
  const std::string label = "Requests/sec:";
  const std::size_t at = done.out.find(label);
  if (at == std::string::npos || done.out.find("Non-2xx") != std::string::npos) {
    std::fprintf(stderr, "%s%s\n", done.out.c_str(), done.err.c_str());
    std::exit(1);
  }
  return std::strtod(done.out.c_str() + at + label.size(), nullptr);
}

void Report(benchmark::State& state, const std::string& url, const std::string& script = "") {
  for (auto _ : state) {
    const double rate = Load(url, script);
    state.counters["rate"] = rate;
    state.SetIterationTime(1 / rate);
  }
}

void GetLatest(benchmark::State& state) {
  Report(state, TheServer().server->url() + TheServer().path);
}

void GetCached(benchmark::State& state) {
  Report(state, TheServer().server->url() + TheServer().path + "?freshness=cached");
}

void Post(benchmark::State& state) {
  static int round = 0;
  const std::string script = absl::StrFormat(
      "local n = 0\n"
      "request = function()\n"
      "  n = n + 1\n"
      "  return wrk.format('POST', '%s', {['Content-Type'] = 'application/json'},\n"
      "    '{\"kind\":\"Cluster\",\"name\":\"r%d-' .. n .. '\",\"spec\":{\"replicas\":3}}')\n"
      "end\n",
      e2e::kClusters, ++round);
  Report(state, TheServer().server->url(), script);
}

void ReturnTwoHundred(benchmark::State& state) {
  Report(state, TheFloor().url());
}

void Shape(benchmark::internal::Benchmark* bench) {
  bench->UseManualTime()->Iterations(1)->Repetitions(5)->Unit(benchmark::kMicrosecond);
}

BENCHMARK(GetLatest)->Apply(Shape);
BENCHMARK(GetCached)->Apply(Shape);
BENCHMARK(Post)->Apply(Shape);
BENCHMARK(ReturnTwoHundred)->Name("nginx")->Apply(Shape);

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::RunAll(argc, argv,
                       {{"GetLatest", "nginx"}, {"GetCached", "nginx"}, {"Post", "nginx"}});
}
