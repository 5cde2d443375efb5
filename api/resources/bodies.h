// The bodies of resource requests: what can be judged without the store.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "api/http/problem.h"
#include "api/spec_schema/spec_schemas.h"
#include "projections/registry.h"
#include "projections/resources/names.h"
#include "projections/resources/references.h"

namespace api {

// Of the reason of a force-delete: Unicode code points.
inline constexpr std::size_t kMaxReasonCharacters = 1024;

struct CreateBody {
  const projections::EntityDescriptor* kind = nullptr;
  std::string name;
  std::string spec;  // Canonical JSON.
  projections::Labels labels;
  projections::RequestedReferences references;
};

// A create request for `kind`. Checked in this order: JSON, the spec if there is one against its
// schema, kind, name, spec, labels, size, references.
std::variant<Problem, CreateBody> ParseTypedCreate(std::string_view body,
                                                   const projections::EntityDescriptor& kind,
                                                   const SpecSchemas& schemas);

// A create request that names its kind. Checked in this order: JSON, spec, labels, that the kind
// is known and not a child's, the spec against its schema, name, size, references.
std::variant<Problem, CreateBody> ParseRootCreate(std::string_view body,
                                                  const projections::Registry& registry,
                                                  const SpecSchemas& schemas);

struct PatchBody {
  std::optional<std::string> spec;  // Canonical JSON.
  std::optional<projections::Labels> labels;
  std::optional<projections::RequestedReferences> references;
  // The spec once more, where its kind is not known yet: it has not been checked against a schema.
  std::optional<JsonValue> unchecked_spec;
};
// `kind` is what the route is about; null: any. Whether the references and the spec suit the
// resource's kind is then left to the rule.
std::variant<Problem, PatchBody> ParsePatch(std::string_view body,
                                            const projections::EntityDescriptor* kind,
                                            const SpecSchemas& schemas);

// The reason of a force-delete.
std::variant<Problem, std::string> ParseForceDelete(std::string_view body);

// 422: a child cannot be made without its parent's path.
Problem ChildNeedsParent(const projections::EntityDescriptor& kind,
                         const projections::Registry& registry);

}  // namespace api
