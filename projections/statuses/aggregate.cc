#include "projections/statuses/aggregate.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "projections/registry.h"
#include "schemas/codec.h"

namespace projections {
namespace {

using engine::Timestamp;
using schemas::ConditionStatus;

const AdapterView* Find(std::span<const AdapterView> reports, std::string_view adapter) {
  const auto found = std::ranges::find(reports, adapter, &AdapterView::adapter);
  return found == reports.end() ? nullptr : &*found;
}

const ConditionState* Find(const ConditionStates& conditions, std::string_view type) {
  const auto found = std::ranges::find(conditions, type, &ConditionState::type);
  return found == conditions.end() ? nullptr : &*found;
}

bool IsFinalized(const AdapterView& report, std::int32_t generation) {
  return GUARD("statuses.finalized-generation", report.generation == generation) &&
         report.finalized == ConditionStatus::kTrue;
}

ConditionStatus StatusOf(bool holds) {
  return holds ? ConditionStatus::kTrue : ConditionStatus::kFalse;
}

std::optional<Timestamp> Earliest(std::optional<Timestamp> a, Timestamp b) {
  return a.has_value() && a->micros < b.micros ? a : b;
}

// The adapters that say whether they are available, and those that have yet to say so.
struct Snapshots {
  std::vector<const AdapterView*> known;  // In the order of the required adapters.
  std::vector<std::string_view> missing;
};

Snapshots Take(const AggregationInput& input) {
  Snapshots snapshots;
  for (const std::string& adapter : input.required_adapters) {
    const AdapterView* report = Find(input.reports, adapter);
    const bool counts = report != nullptr && report->generation <= input.generation &&
                        (report->available == ConditionStatus::kTrue ||
                         report->available == ConditionStatus::kFalse);
    if (counts) {
      snapshots.known.push_back(report);
    } else {
      snapshots.missing.push_back(adapter);
    }
  }
  return snapshots;
}

std::string Listed(std::vector<std::string_view> adapters) {
  std::ranges::sort(adapters);
  std::string list;
  for (const std::string_view adapter : adapters) {
    list += list.empty() ? "" : ", ";
    list += adapter;
  }
  return list;
}

// What a condition is to be, before it is compared with what it was.
struct Draft {
  std::string type;
  ConditionStatus status = ConditionStatus::kFalse;
  std::string reason;
  std::string message;
  std::int32_t observed_generation = 1;
  Timestamp updated;
  // Since when it has the status, if that is a change.
  Timestamp changed;
};

ConditionState Settle(Draft draft, const AggregationInput& input) {
  const ConditionState* before = Find(input.previous, draft.type);
  const bool same = before != nullptr && before->status == draft.status;
  return {.type = std::move(draft.type),
          .status = draft.status,
          .reason = std::move(draft.reason),
          .message = std::move(draft.message),
          .observed_generation = draft.observed_generation,
          .created_time = before == nullptr ? input.updated_time : before->created_time,
          .last_updated_time = draft.updated,
          .last_transition_time = same ? before->last_transition_time : draft.changed};
}

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

ConditionState Reconciled(const AggregationInput& input, const Snapshots& snapshots) {
  const Progress progress = ProgressOf(input, snapshots);
  const bool all = progress.waiting.empty() && !input.required_adapters.empty();
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
bool LastKnownHolds(const AggregationInput& input, const Snapshots& snapshots, const Known& known,
                    const ConditionState* before) {
  if (input.required_adapters.empty() || !snapshots.missing.empty()) {
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

ConditionState LastKnownReconciled(const AggregationInput& input, const Snapshots& snapshots) {
  const ConditionState* before = Find(input.previous, kLastKnownReconciled);
  const Known known(snapshots);
  const bool holds = LastKnownHolds(input, snapshots, known, before);
  const bool fresh = holds && known.all_true && known.uniform;
  const std::int32_t tracked = before == nullptr ? 1 : before->observed_generation;
  std::int32_t generation = tracked;
  if (input.required_adapters.empty()) {
    generation = 1;
  } else if (fresh || (!holds && known.newest > 0)) {
    generation = known.newest;
  }
  Timestamp updated = before == nullptr ? input.updated_time : before->last_updated_time;
  if (input.required_adapters.empty()) {
    updated = input.updated_time;
  } else if (fresh || (!holds && SaysFalseAt(snapshots, generation))) {
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

}  // namespace

AdapterView ViewOf(const schemas::AdapterReport& report) {
  AdapterView view{.adapter = schemas::Text(report.adapter()),
                   .generation = report.observed_generation(),
                   .observed = {report.last_report_time()}};
  for (const schemas::ReportedCondition* condition : *report.conditions()) {
    const std::string_view type = schemas::Text(condition->type());
    if (type == kAvailable) {
      view.available = condition->status();
      view.reason = schemas::Text(condition->reason());
      view.message = schemas::Text(condition->message());
    } else if (type == kFinalized) {
      view.finalized = condition->status();
    }
  }
  return view;
}

ConditionStates Aggregate(const AggregationInput& input) {
  const Snapshots snapshots = Take(input);
  ConditionStates conditions;
  conditions.push_back(Reconciled(input, snapshots));
  conditions.push_back(LastKnownReconciled(input, snapshots));
  for (const AdapterView* report : snapshots.known) {
    conditions.push_back(Settle({.type = AdapterConditionType(report->adapter),
                                 .status = report->available,
                                 .reason = std::string(report->reason),
                                 .message = std::string(report->message),
                                 .observed_generation = report->generation,
                                 .updated = report->observed,
                                 .changed = report->observed},
                                input));
  }
  std::vector<MappedCondition> mapped = input.mapped;
  std::ranges::sort(mapped, {}, &MappedCondition::type);
  for (MappedCondition& condition : mapped) {
    conditions.push_back(Settle({.type = std::move(condition.type),
                                 .status = condition.status,
                                 .reason = std::move(condition.reason),
                                 .message = std::move(condition.message),
                                 .observed_generation = input.generation,
                                 .updated = input.updated_time,
                                 .changed = input.updated_time},
                                input));
  }
  return conditions;
}

ConditionStates Unreported(std::span<const std::string> required_adapters,
                           const schemas::Resource& resource) {
  if (required_adapters.empty()) {
    return {};
  }
  AggregationInput input{.required_adapters = required_adapters,
                         .generation = 1,
                         .updated_time = {resource.created_time()},
                         .reports = {},
                         .previous = {}};
  input.previous = Aggregate(input);
  input.generation = resource.generation();
  input.updated_time = {resource.updated_time()};
  return Aggregate(input);
}

bool AllFinalized(std::span<const std::string> required_adapters, std::int32_t generation,
                  std::span<const AdapterView> reports) {
  return std::ranges::all_of(required_adapters, [&](const std::string& adapter) {
    const AdapterView* report = Find(reports, adapter);
    return report != nullptr && IsFinalized(*report, generation);
  });
}

}  // namespace projections
