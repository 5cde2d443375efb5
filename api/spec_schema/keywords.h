// The keywords of a schema that name no other schema. Used by the compiler only.
//
// All fail with kInvalidArgument, naming the place: the keyword has a value it cannot have. Pure
// functions; thread-safe, never block.

#pragma once

#include <string_view>

#include <absl/status/statusor.h>

#include "api/spec_schema/compiler.h"

namespace api {

absl::Status Wrong(const SchemaPlace& place, std::string_view what);

// Null where there is none.
absl::StatusOr<const JsonObject*> ObjectMember(const JsonObject& schema, const SchemaPlace& place,
                                               std::string_view key);
absl::StatusOr<Pattern> ReadPattern(const SchemaPlace& place, std::string_view text);

// `type`, `enum`, `const`, and what is said of numbers and texts.
absl::Status ReadScalars(const JsonObject& schema, const SchemaPlace& place,
                         const SchemaOptions& options, SchemaNode& node);
// True where anything was said.
absl::StatusOr<bool> ReadArrayCounts(const JsonObject& schema, const SchemaPlace& place,
                                     const SchemaOptions& options, ArrayRules& rules);
absl::StatusOr<bool> ReadObjectCounts(const JsonObject& schema, const SchemaPlace& place,
                                      const SchemaOptions& options, ObjectRules& rules);

}  // namespace api
