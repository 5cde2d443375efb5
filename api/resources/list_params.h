// The parameters of lists: page, size, order.

#pragma once

#include <cstdint>
#include <variant>

#include "api/http/problem.h"
#include "projections/registry.h"
#include "projections/resources/image.h"

namespace api {

inline constexpr std::int64_t kMaxPage = 100'000;
inline constexpr std::int64_t kMaxPageSize = 100;
inline constexpr std::int64_t kDefaultPageSize = 20;

// `kind` is what the route lists; null: any. All that is wrong with page and size is reported
// together. A parameter that is blank counts as absent, an unknown one is ignored.
//
// `search` and a reference filter would change which items are in the list, so they are refused
// while they cannot be honoured: 501, and 400 naming the type. Half a reference filter is 400 on
// every list; a list of any kind has no reference types and ignores a whole one.
std::variant<Problem, projections::ListOptions> ParseListParams(
    const Request& request, const projections::EntityDescriptor* kind);

}  // namespace api
