// The body of PUT .../statuses: what can be judged without the store.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <cstddef>
#include <string_view>
#include <variant>

#include "api/http/problem.h"
#include "projections/resources/report.h"

namespace api {

// More are refused: each is compared with all others.
inline constexpr std::size_t kMaxReportedConditions = 256;

// A report without its target and actor. Unknown members are ignored. Checked in this order: JSON,
// adapter, observed_generation, observed_time (absent or year 1: now), conditions, data, metadata.
// Whether the mandatory conditions are there is for the rule: a report that is dropped need not
// have them.
std::variant<Problem, projections::ReportRequest> ParseReport(std::string_view body);

}  // namespace api
