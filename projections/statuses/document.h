// The JSON of conditions and reports, as answers show it. docs/resources.md lists the members.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <string>

#include "schemas/status_generated.h"

namespace projections {

// Appends the array of all conditions.
void AppendConditions(const schemas::ResourceStatus& status, std::string& out);

// Appends the document of one report.
void AppendReportDocument(const schemas::AdapterReport& report, std::string& out);

}  // namespace projections
