// LastKnownReconciled: whether a resource was reconciled at some generation, and nothing since has
// taken that back.

#include <algorithm>
#include <optional>
#include <utility>

#include "projections/statuses/aggregate_parts.h"

namespace projections::aggregation {
namespace {

// What LastKnownReconciled looks at.
struct Known {
  bool all_true = true;
  bool uniform = true;
  std::int32_t newest = 0;  // 0: there are none.

  explicit Known(const Snapshots& snapshots) {
    for (const AdapterView* report : snapshots.known) {
      all_true = all_true && report->available == ConditionStatus::kTrue;
      uniform = uniform && report->generation == snapshots.known.front()->generation;
      newest = std::max(newest, report->generation);
    }
  }
};

bool SaysFalseAt(const Snapshots& snapshots, std::int32_t generation) {
  return std::ranges::any_of(snapshots.known, [generation](const AdapterView* report) {
    return report->available == ConditionStatus::kFalse && report->generation == generation;
  });
}

std::optional<Timestamp> EarliestAt(const Snapshots& snapshots, std::int32_t generation) {
  std::optional<Timestamp> earliest;
  for (const AdapterView* report : snapshots.known) {
    if (report->generation == generation) {
      earliest = Earliest(earliest, report->observed);
    }
  }
  return earliest;
}

// It stays True while the adapters move to a newer generation one by one, until one of them takes
// back what it said about the generation that was reconciled last.
bool LastKnownHolds(const Snapshots& snapshots, const Known& known, const ConditionState* before) {
  if (!snapshots.missing.empty()) {
    return false;
  }
  if (known.all_true && known.uniform) {
    return true;
  }
  const bool was = before != nullptr && before->status == ConditionStatus::kTrue;
  return was && (known.all_true || !SaysFalseAt(snapshots, before->observed_generation));
}

const char* LastKnownReason(const Snapshots& snapshots, const Known& known, bool holds) {
  if (holds) {
    return "AllAdaptersReconciled";
  }
  if (!snapshots.missing.empty() || snapshots.known.empty()) {
    return "AdaptersMissingReports";
  }
  return known.all_true ? "AdaptersNotAtSameGeneration" : "AdapterReportedNotAvailable";
}

std::string LastKnownMessage(const Snapshots& snapshots, const Known& known, bool holds) {
  if (!snapshots.missing.empty()) {
    return "Waiting for adapters to report: " + Listed(snapshots.missing);
  }
  if (holds || known.all_true) {
    return holds ? "All adapters were available at this generation"
                 : "Adapters report about different generations";
  }
  std::vector<std::string_view> unavailable;
  for (const AdapterView* report : snapshots.known) {
    if (report->available == ConditionStatus::kFalse) {
      unavailable.push_back(report->adapter);
    }
  }
  return "Not available: " + Listed(std::move(unavailable));
}

}  // namespace

ConditionState LastKnownReconciled(const AggregationInput& input, const Snapshots& snapshots) {
  const ConditionState* before = Find(input.previous, kLastKnownReconciled);
  const Known known(snapshots);
  const bool holds = LastKnownHolds(snapshots, known, before);
  const bool fresh = holds && known.all_true && known.uniform;
  const std::int32_t tracked = before == nullptr ? 1 : before->observed_generation;
  std::int32_t generation = tracked;
  if (fresh || (!holds && known.newest > 0)) {
    generation = known.newest;
  }
  Timestamp updated = before == nullptr ? input.updated_time : before->last_updated_time;
  if (fresh || (!holds && SaysFalseAt(snapshots, generation))) {
    updated = EarliestAt(snapshots, generation).value_or(updated);
  }
  return Settle({.type = std::string(kLastKnownReconciled),
                 .status = StatusOf(holds),
                 .reason = LastKnownReason(snapshots, known, holds),
                 .message = LastKnownMessage(snapshots, known, holds),
                 .observed_generation = generation,
                 .updated = updated,
                 .changed = updated},
                input);
}

}  // namespace projections::aggregation
