// JSON texts as values of CEL, and back.
//
// Numbers become doubles, as in the servers that rules were written for, so `2 / 4` of two members
// is a half; whole numbers that no double holds exactly stay integers and so keep their digits.
// Pure functions; thread-safe, never block.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>

#include "projections/cel/value.h"

namespace projections::cel {

// For texts that were checked when they came in. Fails with kInvalidArgument: no JSON, or nested
// deeper than 64.
absl::StatusOr<Value> ValueOfJson(std::string_view json);

// Fails with kInvalidArgument: it holds an optional or a number that JSON does not have, or would
// be longer than `limit` bytes.
absl::StatusOr<std::string> JsonOfValue(const Value& value, std::size_t limit);

}  // namespace projections::cel
