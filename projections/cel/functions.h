// What the operators and functions of expressions do.
//
// All fail with kInvalidArgument: the values are of kinds that the function does not take, or out
// of its range. Pure functions; thread-safe, never block.

#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "projections/cel/expression.h"

namespace projections::cel {

// Of the JSON that toJson() makes.
inline constexpr std::size_t kMaxJsonBytes = std::size_t{1} << 20;

// RE2's syntax, a program of at most 1 MiB.
absl::StatusOr<std::shared_ptr<const re2::RE2>> CompilePattern(std::string_view pattern);

// + - * / % and the sign.
absl::StatusOr<Value> Arithmetic(Function function, const Value& a, const Value& b);
absl::StatusOr<Value> Negate(const Value& a);

// Everything else. `arguments` are as many as the function takes; `pattern` may be null. Adds what
// it costs beside the call itself to `cost`.
absl::StatusOr<Value> CallFunction(Function function, const std::vector<Value>& arguments,
                                   const re2::RE2* pattern, std::size_t& cost);

// A member of a map, or an element of a list. Null: it has none of that name or number.
absl::StatusOr<const Value*> Part(const Value& of, const Value& key);

}  // namespace projections::cel
