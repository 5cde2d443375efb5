#include "api/spec_schema/spec_schemas.h"

#include <utility>

#include <absl/strings/str_format.h>

#include "api/spec_schema/openapi_document.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"

namespace api {
namespace {

absl::Status IsMissing(const projections::EntityDescriptor& entity) {
  return absl::InvalidArgumentError(absl::StrFormat(
      "kind %s requires the schema %s, which is missing", entity.kind, entity.spec_schema_name));
}

}  // namespace

absl::StatusOr<SpecSchemas> SpecSchemas::Create(const std::string& document,
                                                const projections::Registry& registry) {
  ASSIGN_OR_RETURN(const OpenApiDocument parsed, OpenApiDocument::Parse(document));
  SpecSchemas schemas;
  for (const projections::EntityDescriptor& entity : registry.entities()) {
    std::optional<SchemaProgram> program;
    if (!entity.spec_schema_name.empty()) {
      ASSIGN_OR_RETURN(program, parsed.Compile(entity.spec_schema_name));
    }
    if (program) {
      schemas.by_kind_[entity.kind] = {entity.spec_schema_name,
                                       std::make_shared<const SchemaProgram>(*std::move(program))};
    } else if (!GUARD("schema.required", !entity.require_spec_schema)) {
      return IsMissing(entity);
    } else if (!entity.spec_schema_name.empty()) {
      schemas.missing_.push_back(entity.spec_schema_name);
    }
  }
  return schemas;
}

absl::StatusOr<SpecSchemas> SpecSchemas::WithoutDocument(const projections::Registry& registry) {
  SpecSchemas schemas;
  for (const projections::EntityDescriptor& entity : registry.entities()) {
    if (!GUARD("schema.required-somewhere", !entity.require_spec_schema)) {
      return IsMissing(entity);
    }
    if (!entity.spec_schema_name.empty()) {
      schemas.missing_.push_back(entity.spec_schema_name);
    }
  }
  return schemas;
}

const SpecSchemas::Schema* SpecSchemas::Find(std::string_view kind) const {
  const auto found = by_kind_.find(std::string(kind));
  return found == by_kind_.end() ? nullptr : &found->second;
}

const std::string* SpecSchemas::NameFor(std::string_view kind) const {
  const Schema* schema = Find(kind);
  return schema == nullptr ? nullptr : &schema->name;
}

std::vector<SchemaError> SpecSchemas::Check(std::string_view kind, const JsonValue& spec) const {
  const Schema* schema = Find(kind);
  return schema == nullptr ? std::vector<SchemaError>()
                           : CheckAgainst(*schema->program, spec, "spec");
}

}  // namespace api
