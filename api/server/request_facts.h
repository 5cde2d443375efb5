// What the log and the traces say of a request.
//
// Thread-safe; never block.

#pragma once

#include <string_view>

#include "api/http/request.h"

namespace api {

// Whether it is a probe or a scrape: /healthz, /readyz, /metrics.
bool IsProbe(const Request& request);

// The plural of the kind that the request is about: of
// `/api/hyperfleet/v1/clusters/-/nodepools/-/statuses` it is `nodepools`. Empty where the route
// names no resource.
std::string_view ResourceTypeOf(const Request& request);

}  // namespace api
