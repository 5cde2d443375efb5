// Conversions between the kinds of values: int(), uint(), double(), string(), bool() and dyn().
//
// Pure functions; thread-safe, never block.

#pragma once

#include <absl/status/statusor.h>

#include "projections/cel/expression.h"

namespace projections::cel {

// `function` is one of kToInt to kToBool, or kDynamic, which changes nothing. Doubles lose what is
// behind the point. Fails with kInvalidArgument: there is no such conversion, the text is no
// number, or the number is out of range.
absl::StatusOr<Value> Convert(Function function, const Value& value);

}  // namespace projections::cel
