#include "api/resources/reconciliations.h"

#include <algorithm>

#include "projections/statuses/pending.h"

namespace api {
namespace {

std::string Lower(std::string text) {
  for (char& c : text) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text;
}

void AddPending(const std::vector<projections::PendingReconciliation>& counts,
                std::vector<Reconciliations::Sample>& samples) {
  const auto add = [&](const char* name, const char* help, auto value_of) {
    for (const projections::PendingReconciliation& count : counts) {
      if (const double value = value_of(count); value > 0) {
        samples.push_back({name, help, false, Lower(count.kind), count.is_delete, value});
      }
    }
  };
  add("hyperfleet_api_resource_pending_reconciliation", "Resources that are not reconciled.",
      [](const auto& count) { return static_cast<double>(count.pending); });
  add("hyperfleet_api_resource_pending_reconciliation_stuck",
      "Resources that have not been reconciled for longer than the threshold.",
      [](const auto& count) { return static_cast<double>(count.stuck); });
  add("hyperfleet_api_resource_pending_reconciliation_stuck_duration_seconds",
      "How long the one of them that waits longest has done so.",
      [](const auto& count) { return count.stuck_seconds; });
}

}  // namespace

void Reconciliations::CountStarts(const std::vector<projections::ReconciliationStart>& starts) {
  if (starts.empty()) {
    return;
  }
  engine::MutexLock lock(mutex_);
  for (const projections::ReconciliationStart& start : starts) {
    ++started_[{Lower(start.kind), start.is_delete}];
  }
}

std::vector<Reconciliations::Sample> Reconciliations::Samples(
    const engine::View& view, engine::Timestamp now, engine::Duration stuck_threshold) const {
  std::vector<Sample> samples;
  {
    engine::MutexLock lock(mutex_);
    for (const auto& [key, count] : started_) {
      samples.push_back({"hyperfleet_api_reconciliation_started_total",
                         "Resources that became unreconciled, or were created so.", true, key.first,
                         key.second, static_cast<double>(count)});
    }
  }
  const auto resources = engine::ImageIn<projections::ResourcesImage>(view);
  const auto statuses = engine::ImageIn<projections::StatusesImage>(view);
  if (resources.ok() && statuses.ok()) {
    AddPending(projections::CountPending(**statuses, **resources, now, stuck_threshold), samples);
  }
  return samples;
}

}  // namespace api
