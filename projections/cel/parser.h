// Parse: the text of a CEL expression into what can be evaluated.
//
// What of CEL there is, and what is left out: docs/adr/0002-cel.md. Names that mean nothing,
// functions that do not exist and wrong numbers of arguments are refused here, so that nothing but
// values can make an expression fail later.
//
// Thread-safe; never blocks.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "projections/cel/expression.h"

namespace projections::cel {

inline constexpr std::size_t kMaxSourceBytes = 16'384;
// How deep expressions may stand in each other.
inline constexpr std::size_t kMaxExpressionDepth = 100;

// `variables` are the names that have values, in the order of their slots. Fails with
// kInvalidArgument: what is wrong, and at which byte.
absl::StatusOr<Expression> Parse(std::string_view source,
                                 const std::vector<std::string>& variables);

}  // namespace projections::cel
