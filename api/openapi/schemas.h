// The component schemas of the OpenAPI document. Part of api/openapi.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "api/json/parser.h"
#include "projections/registry.h"

namespace api {

// Hands out names that nothing else has. A kind may be called anything, `Cluster` beside
// `ClusterList` or `A/B` beside `A_B`; component names and operation ids must differ all the same.
class UniqueNames {
 public:
  // `wanted` with what the document does not take replaced by `_`, and a number behind it when
  // that is taken.
  std::string Take(std::string_view wanted);

 private:
  std::set<std::string> taken_;
};

// The names of the schemas of one kind.
struct KindSchemas {
  std::string resource;
  std::string shown;  // All of it, or what `fields` selects.
  std::string list;
  std::string create;
  std::string patch;
  std::string spec;  // Empty: any object.
};

class SchemaNames {
 public:
  explicit SchemaNames(const projections::Registry& registry);

  // Null: of resources of any kind.
  const KindSchemas& Of(const projections::EntityDescriptor* kind) const { return of_.at(kind); }

 private:
  std::map<const projections::EntityDescriptor*, KindSchemas> of_;
};

// `{"$ref": "#/components/<section>/<name>"}`
JsonObject Ref(std::string_view section, std::string_view name);

// `components.schemas`.
JsonObject ComponentSchemas(const projections::Registry& registry, const SchemaNames& names);

}  // namespace api
