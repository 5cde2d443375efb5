// The rule of settling: the conditions of a resource as the registry makes them, when nothing
// about the resource has changed but the registry.
//
// A pure function, like the rules of projections/resources/rules.h.

#pragma once

#include <cstdint>
#include <string_view>

#include "projections/resources/rules.h"

namespace projections {

// Proposes nothing where the conditions are what they should be, or the resource is gone. What is
// finalizing and waits for nothing any more goes, which is audited. Refuses with kConditionFailed
// where a rule of the kind has no result: its conditions stay as they are.
Judgement JudgeSettle(std::string_view id, std::string_view actor, const RuleContext& context);

// Changes whenever the conditions that a kind's resources have may be others.
std::uint64_t ConditionsFingerprint(const EntityDescriptor& descriptor);

}  // namespace projections
