// What operators and functions say of values that they do not take: kInvalidArgument.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <string_view>

#include <absl/status/status.h>

#include "projections/cel/value.h"

namespace projections::cel {

// `WHAT does not take int`
absl::Status WrongKind(std::string_view what, const Value& value);
// `WHAT does not take int and string`
absl::Status WrongKinds(std::string_view what, const Value& a, const Value& b);

}  // namespace projections::cel
