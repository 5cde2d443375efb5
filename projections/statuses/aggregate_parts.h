// What Aggregate is made of. Included by aggregate.cc, reconciled.cc and last_known.cc only.

#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "projections/statuses/aggregate.h"

namespace projections::aggregation {

using engine::Timestamp;
using schemas::ConditionStatus;

// The adapters that say whether they are available, and those that have yet to say so. Points into
// the input and into itself: it may be moved, not copied.
struct Snapshots {
  Snapshots() = default;
  Snapshots(Snapshots&&) = default;
  Snapshots& operator=(Snapshots&&) = default;

  std::vector<const AdapterView*> known;  // In the order of the required adapters.
  std::vector<std::string_view> missing;
  // What adapters said before they were done with the resource and knew no more than that.
  std::deque<AdapterView> kept;
};

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
ConditionState Settle(Draft draft, const AggregationInput& input);

// Null when there is none.
const AdapterView* Find(std::span<const AdapterView> reports, std::string_view adapter);
const ConditionState* Find(const ConditionStates& conditions, std::string_view type);

bool IsFinalized(const AdapterView& report, std::int32_t generation);
ConditionStatus StatusOf(bool holds);
std::optional<Timestamp> Earliest(std::optional<Timestamp> a, Timestamp b);
// In alphabetical order.
std::string Listed(std::vector<std::string_view> adapters);

// REQUIRES: there are required adapters.
ConditionState Reconciled(const AggregationInput& input, const Snapshots& snapshots);
ConditionState LastKnownReconciled(const AggregationInput& input, const Snapshots& snapshots);

}  // namespace projections::aggregation
