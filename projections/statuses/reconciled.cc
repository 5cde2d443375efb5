// Reconciled: whether every required adapter is done with the newest generation of a resource.

#include <algorithm>
#include <optional>
#include <utility>

#include "projections/statuses/aggregate_parts.h"

namespace projections::aggregation {
namespace {

// Who has said the word that is waited for, at the current generation, and who has not.
struct Progress {
  std::vector<std::string_view> done;
  std::vector<std::string_view> waiting;
  std::optional<Timestamp> first;  // The earliest report at the current generation.
};

Progress ProgressOf(const AggregationInput& input, const Snapshots& snapshots) {
  Progress progress;
  for (const std::string& adapter : input.required_adapters) {
    const AdapterView* report = Find(input.reports, adapter);
    const bool known = std::ranges::find(snapshots.known, report) != snapshots.known.end();
    const bool finalized =
        input.deleting && report != nullptr && IsFinalized(*report, input.generation);
    const bool current = (known && report->generation == input.generation) || finalized;
    if (current) {
      progress.first = Earliest(progress.first, report->observed);
    }
    const bool done =
        input.deleting ? finalized : current && report->available == ConditionStatus::kTrue;
    (done ? progress.done : progress.waiting).push_back(adapter);
  }
  return progress;
}

std::string MessageOf(const Progress& progress) {
  std::string message;
  if (!progress.waiting.empty()) {
    message = "Waiting for adapters to report: " + Listed(progress.waiting);
  }
  if (!progress.done.empty()) {
    message += (message.empty() ? "Reported: " : "; reported: ") + Listed(progress.done);
  }
  return message;
}

}  // namespace

ConditionState Reconciled(const AggregationInput& input, const Snapshots& snapshots) {
  const Progress progress = ProgressOf(input, snapshots);
  const bool all = progress.waiting.empty();
  const bool blocked = input.deleting && input.has_children;
  const bool holds = all && !blocked;
  const Timestamp updated = progress.first.value_or(input.updated_time);
  const ConditionState* before = Find(input.previous, kReconciled);
  // A change of the resource takes it back at the moment of that change.
  const bool taken_back = before != nullptr && before->status == ConditionStatus::kTrue &&
                          before->observed_generation < input.generation;
  return Settle(
      {.type = std::string(kReconciled),
       .status = StatusOf(holds),
       .reason = holds ? "ReconciledAll"
                 : all ? "ReconciledWaitingForChildren"
                       : "ReconciledMissingAdapters",
       .message = all && blocked ? "Waiting for children to be gone" : MessageOf(progress),
       .observed_generation = input.generation,
       .updated = updated,
       .changed = !holds && taken_back ? input.updated_time : updated},
      input);
}

}  // namespace projections::aggregation
