// Reports and short looks at what came of them, which the tests of the rules share.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "projections/resources/report.h"
#include "projections/statuses/aggregate.h"
#include "projections/statuses/state.h"
#include "tests/projections/resources/requests.h"

namespace projections {

inline ReportedConditionState Says(std::string_view type, schemas::ConditionStatus status) {
  return {std::string(type), status, "Why", "because", {}};
}

// A full report, observed now.
inline ReportRequest Report(TestStore& store, std::string_view id, std::string_view adapter,
                            std::int32_t generation,
                            schemas::ConditionStatus available = schemas::ConditionStatus::kTrue) {
  return {
      .target = {std::string(id), {}, {}},
      .adapter = std::string(adapter),
      .observed_generation = generation,
      .observed_time = store.now(),
      .conditions = {Says(kAvailable, available), Says(kApplied, schemas::ConditionStatus::kTrue),
                     Says(kHealth, schemas::ConditionStatus::kTrue)},
      .data = "{}",
      .metadata = "",
      .actor = "adapter"};
}

inline ReportRequest FinalReport(TestStore& store, std::string_view id, std::string_view adapter,
                                 std::int32_t generation) {
  ReportRequest report = Report(store, id, adapter, generation, schemas::ConditionStatus::kFalse);
  report.conditions.push_back(Says(kFinalized, schemas::ConditionStatus::kTrue));
  return report;
}

// `True@2`: status and observed generation of a condition; empty when there is none.
inline std::string Shown(const TestStore& store, std::string_view id, std::string_view type) {
  const StatusEntry* entry = store.statuses()->Find(id);
  const auto* condition = entry == nullptr ? nullptr : entry->FindCondition(type);
  if (condition == nullptr) {
    return "";
  }
  return std::string(StatusName(condition->status())) + "@" +
         std::to_string(condition->observed_generation());
}

}  // namespace projections
