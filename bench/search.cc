// Lists and searches over many resources, in memory: what an index makes of them.
//
// Eight kinds, four of them children; five labels and a spec of 1 kB each; 1,000 tenants, and one
// of 100 resources; two conditions each. HALO_BENCH_RESOURCES says how many, else 200,000. Memory
// is told on standard error.

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <string>

#include <benchmark/benchmark.h>

#include "bench/support/report.h"
#include "projections/resources/document.h"
#include "projections/resources/lists.h"
#include "projections/resources/projection.h"
#include "projections/search/parser.h"
#include "projections/statuses/projection.h"
#include "projections/statuses/state.h"

namespace bench {
namespace {

using projections::ListOptions;
using projections::ListPlan;
using projections::ListScope;
using projections::ResourceColumn;
using projections::ResourcesImage;
using projections::StatusesImage;
using projections::TenantScope;

constexpr std::int64_t kEpoch = 1'780'000'000'000'000;
constexpr std::size_t kTenants = 1000;
constexpr std::size_t kOfSmallTenant = 100;

// Of this process, in bytes.
std::size_t ResidentBytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t pages = 0;
  statm >> pages >> pages;
  return pages * 4096;
}

std::string IdOf(std::size_t number) {
  const std::string digits = std::to_string(number);
  return "01936d3c-0000-7000-8000-" + std::string(12 - digits.size(), '0') + digits;
}

projections::ResourceState ResourceOf(std::size_t i) {
  const std::size_t kind = i % 8;
  projections::ResourceState state;
  state.id = IdOf(i);
  state.kind = "Kind" + std::to_string(kind);
  state.name = "name-" + std::to_string(i);
  state.href = "/api/hyperfleet/v1/kind" + std::to_string(kind) + "s/" + state.id;
  if (kind >= 4) {
    // A hundred children each.
    const std::size_t owner = i / 800 * 8;
    state.owner = projections::OwnerState{IdOf(owner), "Kind0", "/api/hyperfleet/v1/kind0s/x"};
  }
  state.spec = R"({"padding":")" + std::string(900, 'x') + R"(","region":"r)" +
               std::to_string(i % 20) + R"(","release":{"channel":"stable","version":)" +
               std::to_string(i % 1000) + "}}";
  state.labels = {{"build", "b" + std::to_string(i / 100)},
                  {"env", i % 3 == 0 ? "prod" : "dev"},
                  {"region", "r" + std::to_string(i % 20)},
                  {"team", "t" + std::to_string(i % 200)},
                  {"tier", std::to_string(i % 5)}};
  const std::string org = i < kOfSmallTenant ? "small" : std::to_string(i % kTenants);
  state.tenancy = {{"org", "org-" + org}};
  state.created_time = {kEpoch + static_cast<std::int64_t>(i)};
  state.created_by = state.updated_by = "somebody@example.com";
  state.updated_time = state.created_time;
  return state;
}

projections::ConditionStates ConditionsOf(std::size_t i) {
  projections::ConditionStates conditions(2);
  conditions[0].type = "Reconciled";
  conditions[1].type = "LastKnownReconciled";
  for (projections::ConditionState& condition : conditions) {
    const bool is_false = condition.type == "Reconciled" && i % 100 == 0;
    condition.status =
        is_false ? schemas::ConditionStatus::kFalse : schemas::ConditionStatus::kTrue;
    condition.reason = "ReconciledAll";
    condition.message = "All required adapters have reported";
    condition.observed_generation = 1;
    condition.last_updated_time = {kEpoch + static_cast<std::int64_t>(i)};
  }
  return conditions;
}

class Fleet {
 public:
  Fleet() {
    const char* wanted = std::getenv("HALO_BENCH_RESOURCES");
    size_ = wanted == nullptr ? 200'000 : std::strtoull(wanted, nullptr, 10);
    const std::size_t before = ResidentBytes();
    projections::ResourcesProjection resources;
    projections::StatusesProjection statuses;
    for (std::size_t i = 0; i < size_; ++i) {
      const projections::ResourceState state = ResourceOf(i);
      Apply(state.id, projections::EncodeResource(state), i, resources);
    }
    resources_ = std::static_pointer_cast<const ResourcesImage>(resources.Publish());
    const std::size_t between = ResidentBytes();
    for (std::size_t i = 0; i < size_; ++i) {
      Apply(IdOf(i), projections::EncodeStatus(IdOf(i), ConditionsOf(i)), i, statuses);
    }
    statuses_ = std::static_pointer_cast<const StatusesImage>(statuses.Publish());
    std::cerr << size_ << " resources of 1 kB specs: " << (between - before) / size_
              << " bytes each, and " << (ResidentBytes() - between) / size_
              << " of their conditions\n";
  }

  std::size_t size() const { return size_; }
  const ResourcesImage& resources() const { return *resources_; }
  const StatusesImage& statuses() const { return *statuses_; }

 private:
  static void Apply(const std::string& key, const std::string& payload, std::size_t i,
                    engine::Projection& projection) {
    engine::Record record;
    record.stream = projection.stream();
    record.position = engine::Position{i + 1};
    record.key = key;
    record.payload = engine::Payload(payload);
    if (!projection.Apply(record).ok()) {
      std::abort();
    }
  }

  std::size_t size_ = 0;
  std::shared_ptr<const ResourcesImage> resources_;
  std::shared_ptr<const StatusesImage> statuses_;
};

const Fleet& TheFleet() {
  static const Fleet& fleet = *new Fleet;
  return fleet;
}

// A page of 20 with its documents, as a handler makes it.
void RunList(benchmark::State& state, const ListScope& scope, std::string_view search,
             projections::Order order = projections::DefaultOrder()) {
  const Fleet& fleet = TheFleet();
  static const projections::Registry registry = projections::Registry::Stock();
  ListOptions options{.page = 1, .size = 20, .order = std::move(order)};
  std::size_t total = 0;
  std::size_t cost = 0;
  for (auto _ : state) {
    if (!search.empty()) {
      options.search = std::make_shared<const projections::search::Node>(
          *projections::search::ParseSearch(search));
    }
    const ListPlan plan(fleet.resources(), &fleet.statuses(), scope, options);
    const projections::ListPage page = plan.Run();
    std::string body;
    for (const projections::ResourceEntry* entry : page.items) {
      const projections::StatusEntry* status = fleet.statuses().Find(entry->id());
      projections::AppendResourceDocument(entry->table(), &status->table(), registry, body);
    }
    benchmark::DoNotOptimize(body);
    total = page.total;
    cost = plan.cost();
  }
  state.counters["total"] = static_cast<double>(total);
  state.counters["looked_at"] = static_cast<double>(cost);
}

void Get(benchmark::State& state) {
  const Fleet& fleet = TheFleet();
  static const projections::Registry registry = projections::Registry::Stock();
  std::size_t i = 0;
  for (auto _ : state) {
    i = (i + 7919) % fleet.size();
    std::string body;
    const std::string id = IdOf(i);
    projections::AppendResourceDocument(fleet.resources().Find(id)->table(),
                                        &fleet.statuses().Find(id)->table(), registry, body);
    benchmark::DoNotOptimize(body);
  }
}

const projections::Order kByName = {{ResourceColumn::kName, false}};

void Kind(benchmark::State& state) {
  RunList(state, {.kind = "Kind1"}, "");
}
void Label(benchmark::State& state) {
  RunList(state, {.kind = "Kind1"}, "labels.region = 'r5'");
}
void LabelByName(benchmark::State& state) {
  RunList(state, {.kind = "Kind1"}, "labels.region = 'r5'", kByName);
}
void LabelOfAnyKind(benchmark::State& state) {
  RunList(state, {}, "labels.region = 'r5'");
}
void Condition(benchmark::State& state) {
  RunList(state, {.kind = "Kind4"}, "status.conditions.Reconciled = 'False'");
}
void OldCondition(benchmark::State& state) {
  RunList(state, {.kind = "Kind0"},
          "status.conditions.Reconciled = 'True' and "
          "status.conditions.Reconciled.last_updated_time < '2026-05-28T20:26:40.001Z'");
}
void Owner(benchmark::State& state) {
  static const std::string owner = IdOf(800);
  RunList(state, {.kind = "Kind4", .owner_id = owner}, "");
}
void Tenant(benchmark::State& state) {
  RunList(state, {.kind = "Kind1", .tenant = TenantScope::Of({{"org", "org-small"}})}, "", kByName);
}
void TenantAndLabel(benchmark::State& state) {
  RunList(state, {.kind = "Kind1", .tenant = TenantScope::Of({{"org", "org-small"}})},
          "labels.env = 'dev' and spec.release.version > 3");
}
void LabelAndSpec(benchmark::State& state) {
  RunList(state, {.kind = "Kind1"}, "labels.team = 't81' and spec.release.version > 500");
}
void Unindexed(benchmark::State& state) {
  RunList(state, {.kind = "Kind1"}, "spec.release.version > 500 and spec.region = 'r5'");
}
void UnindexedOfAnyKind(benchmark::State& state) {
  RunList(state, {}, "spec.release.version > 500 and spec.region = 'r5'", kByName);
}

BENCHMARK(Get);
BENCHMARK(Kind);
BENCHMARK(Label);
BENCHMARK(LabelByName);
BENCHMARK(LabelOfAnyKind);
BENCHMARK(Condition);
BENCHMARK(OldCondition);
BENCHMARK(Owner);
BENCHMARK(Tenant);
BENCHMARK(TenantAndLabel);
BENCHMARK(LabelAndSpec);
BENCHMARK(Unindexed)->Unit(benchmark::kMillisecond);
BENCHMARK(UnindexedOfAnyKind)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::RunAll(argc, argv, {});
}
