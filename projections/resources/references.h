// References: links to resources that own nothing. What a request may ask for, and what the rules
// make of it. docs/resources.md has the rules.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "projections/registry.h"
#include "projections/resources/names.h"
#include "projections/resources/state.h"
#include "projections/resources/tenant_scope.h"

namespace projections {

class TrackedResources;

// One target that a request names. The kind is what the caller takes it for.
struct RequestedTarget {
  std::string id;
  std::string kind;
  friend bool operator==(const RequestedTarget&, const RequestedTarget&) = default;
};
// By type of reference.
using RequestedReferences = std::map<std::string, std::vector<RequestedTarget>>;

// What is wrong with the references of a resource of that kind whatever other resources there are:
// unknown types, too few or too many targets, a target without id, named twice or of another kind
// than the type's. All of it at once, but of one type, and of unknown types, no more than some
// twenty. Pure; never blocks.
std::vector<FieldError> CheckReferences(const RequestedReferences& requested,
                                        const EntityDescriptor& descriptor);

// The references as a record has them, or why there are none: what CheckReferences finds, or else
// targets that are missing, of another kind or on their way out. What `tenant` does not see is
// missing. `tracked` notes the looks at targets.
struct ResolvedReferences {
  std::vector<ReferenceState> references;  // Sorted by type, then target.
  std::vector<FieldError> errors;          // Empty: they will do.
};
ResolvedReferences ResolveReferences(const RequestedReferences& requested,
                                     const EntityDescriptor& descriptor, const TenantScope& tenant,
                                     TrackedResources& tracked);

}  // namespace projections
