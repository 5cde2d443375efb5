// CheckAgainst: what is wrong with a value, by a schema.
//
// Takes time linear in the value: every schema looks at every value once at most, or three times
// where what was found out has to be told. Beyond that there is a budget for each value, which only
// schemas without measure can use up. Recursion is bounded by the nesting of values (64) and of
// schemas for one value (compiler.h).
//
// Thread-safe; never blocks.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "api/spec_schema/program.h"

namespace api {

// More is not told.
inline constexpr std::size_t kMaxSchemaErrors = 20;

struct SchemaError {
  std::string path;        // `spec.nodes.0.name`
  std::string message;     // `spec.nodes.0.name must be a text`
  std::string constraint;  // One of problem documents, or empty: none of them fits.
};

// Empty: the value is as the schema wants it. `name` is what the value is called in paths.
std::vector<SchemaError> CheckAgainst(const SchemaProgram& program, const JsonValue& value,
                                      std::string_view name);

}  // namespace api
