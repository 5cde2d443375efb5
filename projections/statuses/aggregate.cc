#include "projections/statuses/aggregate.h"

#include <algorithm>
#include <utility>

#include "engine/base/guard.h"
#include "projections/registry.h"
#include "projections/statuses/aggregate_parts.h"
#include "schemas/codec.h"

namespace projections {
namespace aggregation {

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

std::string Listed(std::vector<std::string_view> adapters) {
  std::ranges::sort(adapters);
  std::string list;
  for (const std::string_view adapter : adapters) {
    list += list.empty() ? "" : ", ";
    list += adapter;
  }
  return list;
}

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

namespace {

bool IsKnown(const AdapterView& report) {
  return report.available == ConditionStatus::kTrue || report.available == ConditionStatus::kFalse;
}

// What an adapter said of a finalizing resource before it was done with it and did not know any
// more whether that is available. Its condition remembers.
const ConditionState* SaidBefore(const AdapterView& report, const AggregationInput& input) {
  const bool is_done = input.deleting && report.finalized == ConditionStatus::kTrue;
  return GUARD("statuses.finalized-unknown", is_done)
             ? Find(input.previous, AdapterConditionType(report.adapter))
             : nullptr;
}

AdapterView ViewOf(const ConditionState& condition, std::string_view adapter) {
  return {.adapter = adapter,
          .generation = condition.observed_generation,
          .observed = condition.last_updated_time,
          .available = condition.status,
          .reason = condition.reason,
          .message = condition.message};
}

Snapshots Take(const AggregationInput& input) {
  Snapshots snapshots;
  for (const std::string& adapter : input.required_adapters) {
    const AdapterView* report = Find(input.reports, adapter);
    const bool counts = report != nullptr && report->generation <= input.generation;
    const ConditionState* before =
        counts && !IsKnown(*report) ? SaidBefore(*report, input) : nullptr;
    if (before != nullptr) {
      snapshots.known.push_back(&snapshots.kept.emplace_back(ViewOf(*before, adapter)));
    } else if (counts && IsKnown(*report)) {
      snapshots.known.push_back(report);
    } else {
      snapshots.missing.push_back(adapter);
    }
  }
  return snapshots;
}

void AddOfAdapters(const AggregationInput& input, ConditionStates& conditions) {
  const Snapshots snapshots = Take(input);
  conditions.push_back(Reconciled(input, snapshots));
  conditions.push_back(LastKnownReconciled(input, snapshots));
  for (const AdapterView* report : snapshots.known) {
    conditions.push_back(Settle({.type = AdapterConditionType(report->adapter),
                                 .status = report->available,
                                 .reason = CutText(report->reason, kMaxCopiedReason),
                                 .message = CutText(report->message, kMaxCopiedMessage),
                                 .observed_generation = report->generation,
                                 .updated = report->observed,
                                 .changed = report->observed},
                                input));
  }
}

}  // namespace
}  // namespace aggregation

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
  ConditionStates conditions;
  if (!input.required_adapters.empty()) {
    aggregation::AddOfAdapters(input, conditions);
  }
  std::vector<MappedCondition> mapped = input.mapped;
  std::ranges::sort(mapped, {}, &MappedCondition::type);
  for (MappedCondition& condition : mapped) {
    conditions.push_back(aggregation::Settle({.type = std::move(condition.type),
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
    const AdapterView* report = aggregation::Find(reports, adapter);
    return report != nullptr && aggregation::IsFinalized(*report, generation);
  });
}

}  // namespace projections
