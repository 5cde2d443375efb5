// The functions that expressions can call, by name. Used by the parser only.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "projections/cel/expression.h"

namespace projections::cel {

// `size(x)`: without a receiver. Empty: there is no such function. `arguments` gets how many it
// takes.
std::optional<Function> FindFunction(std::string_view name, std::size_t& arguments);
// `x.size()`: `arguments` counts the receiver.
std::optional<Function> FindMethod(std::string_view name, std::size_t& arguments);
// `optional.of(x)`
std::optional<Function> FindOptionalFunction(std::string_view name, std::size_t& arguments);
// The macros that walk: `x.all(e, ...)`.
std::optional<Fold> FindFold(std::string_view name);

}  // namespace projections::cel
