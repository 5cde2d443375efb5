// What becomes of the conditions of resources when those change, and the end of every rule: the
// records of the stream `statuses` that belong to what it proposes.
// Included by the rules' .cc files only.

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "projections/resources/rules.h"
#include "projections/statuses/aggregate.h"
#include "projections/statuses/facts.h"

namespace projections {

using ReportTables = std::vector<const schemas::AdapterReport*>;
ReportTables TablesOf(const std::vector<const ReportEntry*>& reports);
std::vector<AdapterView> ViewsOf(const ReportTables& reports);

// Of one resource as it will be.
struct ConditionsChange {
  const schemas::Resource& resource;
  bool is_new = false;
  bool has_children = false;  // Of a finalizing resource: any, active or finalizing.
  ReportTables reports = {};
};
// Adds the record of the conditions, and what is to be counted, unless the kind has no conditions
// or they stay as they are; or the refusal, when a rule of the kind's own fails.
void AddConditions(const ConditionsChange& change, const RuleContext& context,
                   Judgement& judgement);

// Adds what follows from the records of resources that a rule proposes: conditions of what is
// created or changed, tombstones for all that was reported about what goes. Then shows `shown`,
// the payload of a resource's record (empty: nothing), as it will be. A refusal if that is more
// than a transaction can hold.
Judgement Conclude(Judgement judgement, std::string_view shown, const RuleContext& context);
}  // namespace projections
