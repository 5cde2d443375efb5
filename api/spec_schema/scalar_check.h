// What a schema demands of a value by itself, without looking into it. Used by the validator only.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/spec_schema/program.h"

namespace api {

struct Broken {
  std::string what;  // `must be a text`
  std::string_view constraint;
};

// The first rule that the value breaks, of type, enum, const and those for numbers and texts.
std::optional<Broken> CheckScalar(const SchemaNode& node, const JsonValue& value);
std::optional<Broken> CheckArrayCounts(const ArrayRules& rules, const JsonArray& array);

}  // namespace api
