// The parameters of lists: page, size, order.

#pragma once

#include <variant>

#include "api/http/problem.h"
#include "projections/resources/image.h"

namespace api {

// All that is wrong with page and size is reported together. A parameter that is blank counts as
// absent, an unknown one is ignored. `search` and `ref_type` would change which items are in the
// list, so they are refused while they cannot be honoured: 501 and 400.
std::variant<Problem, projections::ListOptions> ParseListParams(const Request& request);

}  // namespace api
