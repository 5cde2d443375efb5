// What one record costs in memory: encode, verify, checksum, seal, check an audit chain.

#include "schemas/codec.h"

#include <benchmark/benchmark.h>

#include "bench/support/report.h"
#include "engine/audit_chain.h"
#include "engine/journal.h"
#include "projections/audit.h"
#include "schemas/killswitch_generated.h"
#include "schemas/streams.h"

namespace bench {
namespace {

std::string KillPayload() {
  flatbuffers::FlatBufferBuilder body;
  const auto name = body.CreateString("new-checkout");
  const auto by = body.CreateString("operator@example.com");
  const auto reason = body.CreateString("error rate above the guardrail of 2 %");
  return schemas::Encode(body,
                         schemas::CreateKill(body, name, schemas::KillState::kKilled, by, reason));
}

void Encode(benchmark::State& state) {
  for (auto _ : state) {
    benchmark::DoNotOptimize(KillPayload());
  }
}

void Decode(benchmark::State& state) {
  const engine::Payload payload(KillPayload());
  for (auto _ : state) {
    benchmark::DoNotOptimize(schemas::DecodeAs<schemas::Kill>(payload));
  }
}

void Checksum(benchmark::State& state) {
  engine::Record record;
  record.stream = schemas::kKillSwitchStream;
  record.payload = engine::Payload(KillPayload());
  for (auto _ : state) {
    benchmark::DoNotOptimize(engine::RowChecksum(record));
  }
}

engine::AuditDraft Draft() {
  return {.actor = "operator@example.com",
          .action = "experiment.kill",
          .target = "new-checkout",
          .ip = "10.0.0.7",
          .request_id = "0193a1c2-7f00-7000-8000-000000000000",
          .details = {{"reason", "error rate above the guardrail of 2 %"}}};
}

void Seal(benchmark::State& state) {
  engine::Record record;
  record.stream = schemas::kKillSwitchStream;
  record.position = engine::Position{1};
  record.payload = engine::Payload(KillPayload());
  const engine::Catalogue catalogue = schemas::Streams();
  const std::string previous =
      engine::SealAuditEntry(Draft(), engine::Position{1}, {}, "", {&record, 1}, catalogue);
  for (auto _ : state) {
    benchmark::DoNotOptimize(engine::SealAuditEntry(Draft(), engine::Position{2}, {}, previous,
                                                    {&record, 1}, catalogue));
  }
}

void AuditVerify(benchmark::State& state) {
  constexpr std::size_t kEntries = 10'000;
  std::vector<engine::Record> chain(kEntries);
  const engine::Catalogue catalogue = schemas::Streams();
  for (std::size_t i = 0; i < kEntries; ++i) {
    chain[i].stream = schemas::kAuditStream;
    chain[i].position = engine::Position{i + 1};
    chain[i].payload = engine::Payload(engine::SealAuditEntry(
        Draft(), chain[i].position, {}, i == 0 ? std::string_view() : chain[i - 1].payload.view(),
        {}, catalogue));
  }
  for (auto _ : state) {
    projections::AuditProjection audit;
    for (const engine::Record& entry : chain) {
      if (!audit.Apply(entry).ok()) {
        state.SkipWithError("the chain does not verify");
        break;
      }
    }
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations() * kEntries));
}

BENCHMARK(Encode);
BENCHMARK(Decode);
BENCHMARK(Checksum);
BENCHMARK(Seal);
BENCHMARK(AuditVerify)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  return bench::RunAll(argc, argv, {});
}
