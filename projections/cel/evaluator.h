// Evaluate: the value of an expression.
//
// Whatever the expression and the values: it ends, because what it does is counted (a step for each
// operation, more for long texts and large values) and stopped at a limit, and its recursion is as
// deep as the expression at most. `&&`, `||`, all() and exists() do not mind an error on one side
// when the other side decides.
//
// Thread-safe; never blocks.

#pragma once

#include <cstddef>
#include <vector>

#include <absl/status/statusor.h>

#include "projections/cel/expression.h"

namespace projections::cel {

inline constexpr std::size_t kCostLimit = 10'000;

// `variables` are the values of the names given to Parse, in their order. Fails with
// kInvalidArgument, naming the byte of the expression, when there is no value, and with
// kResourceExhausted at the limit.
absl::StatusOr<Value> Evaluate(const Expression& expression, const std::vector<Value>& variables);

}  // namespace projections::cel
