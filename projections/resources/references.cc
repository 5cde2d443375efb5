#include "projections/resources/references.h"

#include <algorithm>
#include <set>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "projections/resources/facts.h"

namespace projections {
namespace {

// More than these are not told of one type, nor of unknown types: there may be thousands of them.
constexpr std::size_t kErrorsTold = 20;

std::string FieldOf(std::string_view type) {
  return absl::StrFormat("references.%s", type);
}

const ReferenceDescriptor* FindType(const EntityDescriptor& descriptor, std::string_view type) {
  const auto found = std::ranges::find(descriptor.references, type, &ReferenceDescriptor::ref_type);
  return found == descriptor.references.end() ? nullptr : &*found;
}

// The targets of one type, without a look at any of them.
void CheckTargets(const ReferenceDescriptor& type, const std::vector<RequestedTarget>& targets,
                  std::vector<FieldError>& errors) {
  const std::string field = FieldOf(type.ref_type);
  std::set<std::string_view> seen;
  const std::size_t told = errors.size();
  for (const RequestedTarget& target : targets) {
    if (errors.size() >= told + kErrorsTold) {
      return;
    }
    if (target.id.empty()) {
      errors.push_back({field, absl::StrFormat("%s: a target has no id", field), "required"});
      continue;
    }
    const bool is_new = seen.insert(target.id).second;
    if (!GUARD("resources.reference-once", is_new)) {
      errors.push_back(
          {field, absl::StrFormat("%s: duplicate target id '%s'", field, target.id), "unique"});
    }
    if (!GUARD("resources.reference-kind", target.kind == type.target_kind)) {
      errors.push_back({field,
                        absl::StrFormat("%s: kind '%s' does not match expected target kind '%s'",
                                        field, target.kind, type.target_kind),
                        "enum"});
    }
  }
}

void CheckCount(const ReferenceDescriptor& type, std::size_t count,
                std::vector<FieldError>& errors) {
  const std::string field = FieldOf(type.ref_type);
  if (!GUARD("resources.reference-min", count >= static_cast<std::size_t>(type.min))) {
    errors.push_back(
        {field, absl::StrFormat("%s: at least %d must be given", field, type.min), "min"});
  }
  const bool fits = type.max == 0 || count <= static_cast<std::size_t>(type.max);
  if (!GUARD("resources.reference-max", fits)) {
    errors.push_back(
        {field, absl::StrFormat("%s: at most %d may be given", field, type.max), "max"});
  }
}

// What is wrong with a target as it is now.
std::optional<FieldError> CheckTarget(const ReferenceDescriptor& type, const std::string& id,
                                      const TenantScope& tenant, TrackedResources& tracked) {
  const ResourceEntry* target = tracked.Find(id);
  if (target != nullptr && !GUARD("resources.reference-tenant", tenant.Sees(*target))) {
    target = nullptr;
  }
  const std::string field = FieldOf(type.ref_type);
  const bool exists = target != nullptr && target->kind() == type.target_kind;
  if (!GUARD("resources.reference-exists", exists)) {
    return FieldError{field,
                      absl::StrFormat("%s: %s with id='%s' not found", field, type.target_kind, id),
                      "enum"};
  }
  if (!GUARD("resources.reference-active", target == nullptr || !target->is_deleting())) {
    return FieldError{
        field,
        absl::StrFormat("%s: %s with id='%s' is marked for deletion", field, type.target_kind, id),
        "enum"};
  }
  return std::nullopt;
}

}  // namespace

std::vector<FieldError> CheckReferences(const RequestedReferences& requested,
                                        const EntityDescriptor& descriptor) {
  std::vector<FieldError> errors;
  std::size_t unknown = 0;
  for (const auto& [type, targets] : requested) {
    if (const ReferenceDescriptor* known = FindType(descriptor, type)) {
      CheckTargets(*known, targets, errors);
    } else if (unknown++ < kErrorsTold) {
      errors.push_back({"references",
                        absl::StrFormat("%s has no reference type '%s'", descriptor.kind, type),
                        "enum"});
    }
  }
  for (const ReferenceDescriptor& type : descriptor.references) {
    const auto given = requested.find(type.ref_type);
    CheckCount(type, given == requested.end() ? 0 : given->second.size(), errors);
  }
  return errors;
}

ResolvedReferences ResolveReferences(const RequestedReferences& requested,
                                     const EntityDescriptor& descriptor, const TenantScope& tenant,
                                     TrackedResources& tracked) {
  ResolvedReferences resolved;
  resolved.errors = CheckReferences(requested, descriptor);
  if (!resolved.errors.empty()) {
    return resolved;
  }
  for (const auto& [type, targets] : requested) {
    const ReferenceDescriptor& known = *FindType(descriptor, type);
    for (const RequestedTarget& target : targets) {
      if (resolved.errors.size() >= kErrorsTold) {
        return resolved;
      }
      if (auto error = CheckTarget(known, target.id, tenant, tracked)) {
        resolved.errors.push_back(*std::move(error));
      }
      resolved.references.push_back({type, target.id, known.target_kind});
    }
  }
  std::ranges::sort(resolved.references);
  return resolved;
}

}  // namespace projections
