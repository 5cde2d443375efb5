#include "api/dispatch/compaction.h"

#include "engine/base/logging.h"

namespace api {
namespace {

// For one call of the store; it is in no hurry.
constexpr engine::Duration kPatience = std::chrono::seconds(30);

}  // namespace

Compaction::Compaction(engine::Engine& engine, const CompactionOptions& options)
    : interval_(options.interval),
      compactor_(engine.journal(), {.retentions = options.retentions}),
      elector_(engine.leases(),
               {.lease = "compaction", .ttl = options.lease_ttl, .skew = &clock_skew_},
               [this](engine::Term& term) { Lead(term); }) {}

void Compaction::Lead(engine::Term& term) {
  do {
    RunOnce(term);
  } while (!term.WaitUntilEnded(engine::Deadline::After(interval_)));
}

void Compaction::RunOnce(engine::Term& term) {
  ++runs_;
  const absl::StatusOr<engine::CompactionReport> report =
      compactor_.Run([&term] { return term.valid(); }, kPatience);
  if (!report.ok()) {
    ++failed_;
    engine::Log(engine::Severity::kWarning, "compaction broke off; it goes on later",
                {{"why", report.status().ToString()}});
    return;
  }
  removed_ += report->removed;
  if (report->steps > 0) {
    engine::Log(engine::Severity::kInfo, "compacted",
                {{"rows_passed", report->passed}, {"rows_removed", report->removed}});
  }
}

}  // namespace api
