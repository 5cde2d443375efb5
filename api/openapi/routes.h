// The routes that show the OpenAPI document. Without credentials; they never ask the store.

#pragma once

#include <string_view>

#include "api/http/router.h"
#include "projections/registry.h"

namespace api {

// GET /api/hyperfleet/v1/openapi and .../openapi.html. The document is made here, once.
void AddOpenApiRoutes(Router& router, const projections::Registry& registry,
                      std::string_view version);

}  // namespace api
