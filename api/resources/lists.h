// ShowList: GET of a collection: which resources, in which order, and how much of each.
//
// Thread-safe; never blocks. What has to look at many resources is returned as work for a worker.

#pragma once

#include "api/dispatch/dispatcher.h"
#include "api/resources/operations.h"

namespace api {

// `call` and `view` live as long as what is returned; `registry` longer.
Dispatcher::ReadAnswer ShowList(const Call& call, const LatestView& view,
                                const projections::Registry& registry, RouteScope scope);

}  // namespace api
