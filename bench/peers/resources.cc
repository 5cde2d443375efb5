// Reading resources, against the first seed's own relational layout.
//
// What is compared, in one process, with 1, 16 and (GET) 64 clients that ask again as soon as they
// are answered:
//   halo        at `latest`: each read waits for a tail query of the journal that was sent after
//               it arrived (shared by whoever waits), then is answered from the projections. One
//               thread for the answers, workers for long lists, as in the server.
//   relational  the seed's statements over its five tables (bench/peers/relational.h), prepared,
//               a thread and a connection a client.
// Both see every commit that was acknowledged before they were asked, both make the whole JSON
// document or envelope, neither goes through HTTP. Same throwaway Postgres, same fleet
// (bench/support/fleet.h; HALO_BENCH_RESOURCES says how large); our records went through the
// journal's own append and the replay of a start. bench/peers/cluster.h says how the server is set.
//
// Before anything is measured every list is asked for on both sides, and has to have the same items
// in the same order and the same total.

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <absl/strings/str_format.h>
#include <benchmark/benchmark.h>

#include "bench/peers/cluster.h"
#include "bench/peers/halo.h"
#include "bench/peers/relational.h"
#include "bench/peers/workloads.h"
#include "bench/support/fleet.h"
#include "bench/support/or_die.h"
#include "bench/support/report.h"
#include "engine/base/logging.h"
#include "engine/base/thread.h"
#include "tests/support/postgres.h"

namespace bench {
namespace {

constexpr int kMaxClients = 64;
constexpr int kClients[] = {1, 16};  // Of lists.
constexpr engine::Duration kLength = std::chrono::milliseconds(700);

// Both sides, filled, and their clients.
class Sides {
 public:
  Sides() {
    FillBoth(relational_url_, journal_url_);
    OrDie(bench_.follower().Replay(bench_.store().journal(), std::nullopt,
                                   engine::Deadline::Infinite()));
    for (int client = 0; client < kMaxClients; ++client) {
      relational_.push_back(std::make_unique<RelationalClient>(relational_url_));
    }
    for (const Workload& list : Workloads(FleetSize())) {
      CompareLists(list.name, halo_.AskOnce(list), relational_.front()->List(list.Relational()));
    }
  }

  HaloReaders& halo() { return halo_; }

  // Lets each client ask until its rounds are over.
  void AskRelational(int clients, Rounds& rounds,
                     const std::function<std::string(RelationalClient&)>& ask) {
    std::vector<engine::Thread> threads;
    threads.reserve(static_cast<std::size_t>(clients));
    for (int client = 0; client < clients; ++client) {
      threads.emplace_back("relational", [&, client] {
        while (rounds.Next()) {
          const engine::Duration began = Now();
          const std::string body = ask(*relational_[static_cast<std::size_t>(client)]);
          benchmark::DoNotOptimize(body.data());
          rounds.Done(began);
        }
      });
    }
  }

 private:
  std::unique_ptr<support::PostgresCluster> cluster_ = StartPeersCluster();
  const std::string relational_url_ = OrDie(cluster_->CreateDatabase("relational"));
  const std::string journal_url_ = OrDie(cluster_->CreateDatabase("journal"));
  Workbench bench_{journal_url_};
  HaloReaders halo_{bench_};
  std::vector<std::unique_ptr<RelationalClient>> relational_;
};

Sides& TheSides() {
  static Sides& sides = *new Sides;
  return sides;
}

// Which resource the next GET is about: all over the fleet.
std::size_t NextNumber() {
  static const std::size_t size = FleetSize();
  static std::atomic<std::size_t> next{0};
  return next++ * 7919 % size;
}

const std::string& IdOf(std::size_t number) {
  static const std::vector<std::string> ids = [] {
    std::vector<std::string> made;
    made.reserve(FleetSize());
    for (std::size_t i = 0; i < FleetSize(); ++i) {
      made.push_back(FleetId(i));
    }
    return made;
  }();
  return ids[number];
}

void ListOfHalo(benchmark::State& state, const Workload& list) {
  HaloReaders& halo = TheSides().halo();
  for (auto _ : state) {
    const int clients = static_cast<int>(state.range(0));
    Rounds rounds(clients, kLength);
    halo.Ask(clients, list, rounds);
    rounds.Wait();
    rounds.Report(state);
  }
}

void ListOfRelational(benchmark::State& state, const Workload& list) {
  const RelationalList relational = list.Relational();
  for (auto _ : state) {
    const int clients = static_cast<int>(state.range(0));
    Rounds rounds(clients, kLength);
    TheSides().AskRelational(clients, rounds, [&relational](RelationalClient& client) {
      return client.List(relational);
    });
    rounds.Report(state);
  }
}

void GetOfHalo(benchmark::State& state) {
  for (auto _ : state) {
    const int clients = static_cast<int>(state.range(0));
    Rounds rounds(clients, kLength);
    TheSides().halo().Ask(clients,
                          {[]() -> const std::string& { return IdOf(NextNumber()); },
                           projections::TenantScope::All()},
                          rounds);
    rounds.Wait();
    rounds.Report(state);
  }
}

void GetOfRelational(benchmark::State& state) {
  for (auto _ : state) {
    const int clients = static_cast<int>(state.range(0));
    Rounds rounds(clients, kLength);
    TheSides().AskRelational(clients, rounds, [](RelationalClient& client) {
      const std::size_t number = NextNumber();
      return client.Get(FleetKind(number), IdOf(number), "");
    });
    rounds.Report(state);
  }
}

void Shape(benchmark::internal::Benchmark* bench) {
  for (const int clients : kClients) {
    bench->Arg(clients);
  }
  bench->UseManualTime()->Iterations(1)->Repetitions(3)->Unit(benchmark::kMillisecond);
}

std::vector<Pair> RegisterAll() {
  std::vector<std::string> names = {"Get"};
  benchmark::RegisterBenchmark("halo_Get", GetOfHalo)->Arg(kMaxClients)->Apply(Shape);
  benchmark::RegisterBenchmark("relational_Get", GetOfRelational)->Arg(kMaxClients)->Apply(Shape);
  for (const Workload& list : Workloads(FleetSize())) {
    names.push_back(list.name);
    benchmark::RegisterBenchmark(("halo_" + list.name).c_str(), ListOfHalo, list)->Apply(Shape);
    benchmark::RegisterBenchmark(("relational_" + list.name).c_str(), ListOfRelational, list)
        ->Apply(Shape);
  }
  const std::string most = absl::StrFormat("Get/%d", kMaxClients);
  std::vector<Pair> pairs = {{"halo_" + most, "relational_" + most}};
  for (const std::string& name : names) {
    for (const int clients : kClients) {
      const std::string end = absl::StrFormat("%s/%d", name, clients);
      pairs.push_back({"halo_" + end, "relational_" + end});
    }
  }
  return pairs;
}

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  engine::SetLogLevel(engine::Severity::kError);
  bench::TheSides();  // Takes its time, which is nobody's.
  return bench::RunAll(argc, argv, bench::RegisterAll());
}
