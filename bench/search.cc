// Lists and searches over many resources, in memory: what an index makes of them. Against other
// ways to keep them: bench/peers/resources.cc.
//
// The fleet is bench/support/fleet.h; HALO_BENCH_RESOURCES says how large.

#include <memory>
#include <string>

#include <benchmark/benchmark.h>

#include "bench/support/fleet.h"
#include "bench/support/or_die.h"
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

class Fleet {
 public:
  Fleet() {
    projections::ResourcesProjection resources;
    projections::StatusesProjection statuses;
    for (std::size_t i = 0; i < size(); ++i) {
      Apply(i, projections::EncodeResource(FleetResource(i)), resources);
      Apply(i, projections::EncodeStatus(FleetId(i), FleetConditions(i)), statuses);
    }
    resources_ = std::static_pointer_cast<const ResourcesImage>(resources.Publish());
    statuses_ = std::static_pointer_cast<const StatusesImage>(statuses.Publish());
  }

  std::size_t size() const { return size_; }
  const ResourcesImage& resources() const { return *resources_; }
  const StatusesImage& statuses() const { return *statuses_; }

 private:
  static void Apply(std::size_t i, const std::string& payload, engine::Projection& projection) {
    engine::Record record;
    record.stream = projection.stream();
    record.position = engine::Position{i + 1};
    record.key = FleetId(i);
    record.payload = engine::Payload(payload);
    OrDie(projection.Apply(record));
  }

  const std::size_t size_ = FleetSize();
  std::shared_ptr<const ResourcesImage> resources_;
  std::shared_ptr<const StatusesImage> statuses_;
};

const Fleet& TheFleet() {
  static const Fleet& fleet = *new Fleet;
  return fleet;
}

// A page of 20 with its documents, as a handler makes it.
void RunList(benchmark::State& state, const ListScope& scope, const std::string& search,
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
    const std::string id = FleetId(i);
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
          "status.conditions.Reconciled.last_updated_time < '" +
              engine::FormatTimestamp(FleetTime(1000)) + "'");
}
void Owner(benchmark::State& state) {
  static const std::string owner = FleetId(800);
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
void SpecRange(benchmark::State& state) {
  RunList(state, {.kind = "Kind1"}, "spec.release.version > 500");
}
void SpecNumber(benchmark::State& state) {
  RunList(state, {.kind = "Kind1"}, "spec.release.version = 500");
}
void SpecUnequal(benchmark::State& state) {
  RunList(state, {.kind = "Kind1"}, "spec.region != 'r5'");
}
void SpecIn(benchmark::State& state) {
  RunList(state, {.kind = "Kind1"}, "spec.region in ['r5', 'r6']");
}
void SpecLike(benchmark::State& state) {
  RunList(state, {.kind = "Kind1"}, "spec.network.cidr like '%.7.0.%'");
}
void SpecFormula(benchmark::State& state) {
  RunList(state, {.kind = "Kind1"},
          "(spec.release.version >= 990 or spec.network.cidr = '10.7.0.0/16') and "
          "not spec.region = 'r5'");
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
BENCHMARK(SpecRange)->Unit(benchmark::kMillisecond);
BENCHMARK(SpecNumber)->Unit(benchmark::kMillisecond);
BENCHMARK(SpecUnequal)->Unit(benchmark::kMillisecond);
BENCHMARK(SpecIn)->Unit(benchmark::kMillisecond);
BENCHMARK(SpecLike)->Unit(benchmark::kMillisecond);
BENCHMARK(SpecFormula)->Unit(benchmark::kMillisecond);
BENCHMARK(Unindexed)->Unit(benchmark::kMillisecond);
BENCHMARK(UnindexedOfAnyKind)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::RunAll(argc, argv, {});
}
