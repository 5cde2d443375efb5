// Aggregate: the conditions of a resource, from what its adapters reported.
//
// A pure function of its input: no clock is read, so whoever folds the same reports comes to the
// same conditions. docs/resources.md says the rules in prose. Thread-safe; never blocks.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"
#include "projections/statuses/state.h"
#include "schemas/resource_generated.h"
#include "schemas/status_generated.h"

namespace projections {

inline constexpr std::string_view kReconciled = "Reconciled";
inline constexpr std::string_view kLastKnownReconciled = "LastKnownReconciled";
// What every report has to say.
inline constexpr std::string_view kAvailable = "Available";
inline constexpr std::string_view kApplied = "Applied";
inline constexpr std::string_view kHealth = "Health";
// What a report about a finalizing resource says when its adapter is done with it.
inline constexpr std::string_view kFinalized = "Finalized";

// Of the texts that are copied from reports into the conditions of a resource: as many bytes as 64
// adapters and 64 rules can have in one record. A longer message is cut.
inline constexpr std::size_t kMaxCopiedReason = 1024;
inline constexpr std::size_t kMaxCopiedMessage = 8192;

// What counts of a report. Points into it.
struct AdapterView {
  std::string_view adapter = {};
  std::int32_t generation = 0;
  engine::Timestamp observed;
  // Of its conditions `Available` and `Finalized`; kInvalid: it has none of that type.
  schemas::ConditionStatus available = schemas::ConditionStatus::kInvalid;
  schemas::ConditionStatus finalized = schemas::ConditionStatus::kInvalid;
  std::string_view reason = {};  // Of `Available`, like the message.
  std::string_view message = {};
};
AdapterView ViewOf(const schemas::AdapterReport& report);

// A condition that a rule of the kind derived from the reports (CEL).
struct MappedCondition {
  std::string type = {};
  schemas::ConditionStatus status = schemas::ConditionStatus::kInvalid;
  std::string reason = {};
  std::string message = {};
};

struct AggregationInput {
  std::span<const std::string> required_adapters = {};
  std::int32_t generation = 1;     // Of the resource.
  engine::Timestamp updated_time;  // Of the resource.
  bool deleting = false;
  bool has_children = false;              // Of a finalizing resource: any, active or finalizing.
  std::vector<AdapterView> reports = {};  // Of any adapters, in any order.
  ConditionStates previous;               // What it was before; empty: nothing.
  std::vector<MappedCondition> mapped = {};
};

// In the order in which they are shown: Reconciled, LastKnownReconciled, one of each required
// adapter that says whether it is available, then the mapped ones by type. Where no adapter is
// required there are the mapped ones only: nothing could ever make the others True.
ConditionStates Aggregate(const AggregationInput& input);

// The conditions of a resource about which none were ever recorded, as they follow from its record.
ConditionStates Unreported(std::span<const std::string> required_adapters,
                           const schemas::Resource& resource);

// Whether every required adapter is done with the finalizing resource of that generation.
bool AllFinalized(std::span<const std::string> required_adapters, std::int32_t generation,
                  std::span<const AdapterView> reports);

}  // namespace projections
