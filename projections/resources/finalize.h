// The end of what is finalizing, once nothing is left that it waits for.
// Included by the rules' .cc files only.

#pragma once

#include <string_view>
#include <vector>

#include "projections/resources/rules.h"
#include "projections/statuses/aggregate.h"

namespace projections {

// Whether the resource is finalizing and waits neither for an adapter nor for a child.
bool IsFinished(const ResourceEntry& entry, const std::vector<AdapterView>& views,
                bool has_children, const RuleContext& context);

// Everything that is left of the resource goes, and owners that waited for it alone. `adapter`:
// whose report that follows from; empty: from none.
Judgement Finalize(const ResourceEntry& entry, std::string_view actor, std::string_view adapter,
                   const RuleContext& context);

}  // namespace projections
