// StatusState and ReportState: conditions and reports as plain values, and how they become the
// bytes of records.
//
// Only mutations use them, to say what the next state is; everything that reads works on the
// verified bytes (projections/statuses/entry.h).
//
// Pure functions; thread-safe, never block.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"
#include "schemas/status_generated.h"

namespace projections {

// Empty texts are absent ones.
struct ConditionState {
  std::string type = {};
  schemas::ConditionStatus status = schemas::ConditionStatus::kInvalid;
  std::string reason = {};
  std::string message = {};
  std::int32_t observed_generation = 0;
  engine::Timestamp created_time;
  engine::Timestamp last_updated_time;
  engine::Timestamp last_transition_time;

  friend bool operator==(const ConditionState&, const ConditionState&) = default;
};
using ConditionStates = std::vector<ConditionState>;

ConditionState StateOf(const schemas::ResourceCondition& condition);
ConditionStates StateOf(const schemas::ResourceStatus& status);

struct ReportedConditionState {
  std::string type = {};
  schemas::ConditionStatus status = schemas::ConditionStatus::kInvalid;
  std::string reason = {};
  std::string message = {};
  engine::Timestamp last_transition_time;

  friend bool operator==(const ReportedConditionState&, const ReportedConditionState&) = default;
};

struct ReportState {
  std::string resource_id = {};
  std::string adapter = {};
  std::int32_t observed_generation = 0;
  std::vector<ReportedConditionState> conditions = {};
  std::string data = {};      // An object in canonical JSON.
  std::string metadata = {};  // Likewise, or empty: absent.
  engine::Timestamp created_time;
  engine::Timestamp last_report_time;

  friend bool operator==(const ReportState&, const ReportState&) = default;
};

ReportState StateOf(const schemas::AdapterReport& report);

// Payloads of records. The same state always gives the same bytes.
std::string EncodeStatus(std::string_view resource_id, const ConditionStates& conditions);
std::string EncodeReport(const ReportState& state);
// `adapter` empty: of the aggregated conditions.
std::string EncodeStatusTombstone(std::string_view resource_id, std::string_view adapter);

// The table in a payload that was made in this process: it is not verified again. Points into it.
const schemas::ResourceStatus& StatusIn(std::string_view payload);
const schemas::AdapterReport& ReportIn(std::string_view payload);

// The text, or as much of its beginning as has that many bytes, and no half of a character.
std::string CutText(std::string_view text, std::size_t max_bytes);

// `True`, `False`, `Unknown`, and back; kInvalid for anything else.
std::string_view StatusName(schemas::ConditionStatus status);
schemas::ConditionStatus FindStatus(std::string_view name);

}  // namespace projections
