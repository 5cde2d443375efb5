// SpecSchemas: what each kind of resource demands of its spec.
//
// From the deployer's OpenAPI document: a kind's `spec_schema_name` is the name of a schema in its
// components. Kinds without one accept any object. docs/resources.md.
//
// Immutable, so thread-safe; never blocks. Copies share what was compiled.

#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <absl/container/flat_hash_map.h>
#include <absl/status/statusor.h>

#include "api/spec_schema/validator.h"
#include "projections/registry.h"

namespace api {

class SpecSchemas {
 public:
  // Every kind accepts any object.
  SpecSchemas() = default;

  // Reads the document and compiles the schemas that kinds name. Fails with kInvalidArgument when
  // it is no OpenAPI document, when such a schema cannot be compiled, and when a kind requires one
  // that is not there.
  static absl::StatusOr<SpecSchemas> Create(const std::string& document,
                                            const projections::Registry& registry);

  // Every schema that a kind names is missing. Fails with kInvalidArgument when a kind requires
  // one.
  static absl::StatusOr<SpecSchemas> WithoutDocument(const projections::Registry& registry);

  // Null: any object.
  const std::string* NameFor(std::string_view kind) const;

  // What is wrong with the spec of a resource of this kind; empty: nothing. Paths start with
  // `spec`.
  std::vector<SchemaError> Check(std::string_view kind, const JsonValue& spec) const;

  // Schemas that kinds name and no document has, where they are not required.
  const std::vector<std::string>& missing() const { return missing_; }

 private:
  struct Schema {
    std::string name;
    std::shared_ptr<const SchemaProgram> program;
  };
  const Schema* Find(std::string_view kind) const;

  absl::flat_hash_map<std::string, Schema> by_kind_;
  std::vector<std::string> missing_;
};

}  // namespace api
