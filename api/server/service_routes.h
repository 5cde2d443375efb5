// The routes that need no credentials: health, metrics and what the API is.

#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "api/dispatch/readiness.h"
#include "api/http/router.h"
#include "api/server/metrics.h"
#include "projections/registry.h"

namespace api {

// All arguments must outlive the router's use. These routes are served however many requests are
// parked, and never wait for the store.

// Settings of the store that promises rest on, by name, as it was last seen. Empty: nothing to say.
using BackendFacts = std::function<std::vector<std::pair<std::string, std::string>>()>;

// GET /healthz: 200 `{"status":"ok"}`, always. GET /readyz: 200 `{"status":"ok"}`, or 503 with
// `not_ready` or `shutting_down` and a reason; `store` has the facts.
void AddHealthRoutes(Router& router, const Readiness& readiness, BackendFacts facts);

// GET /metrics.
void AddMetricsRoute(Router& router, const Metrics& metrics);

// GET /api/hyperfleet: `{id, kind, href, version, build_time}`, and the OpenAPI document of the
// resource API (api/openapi).
void AddApiRoutes(Router& router, const projections::Registry& registry);

}  // namespace api
