// The OpenAPI 3.0 document of the resource API, made from the same table of operations as the
// routes (api/resources/operations.h) and from the registry of kinds.
//
// Every `$ref` of it points into it. Specs are open objects: what a deployment demands of them is
// its own. Responses are listed by status; `default` stands for what the transport itself refuses
// and for faults. HEAD is not listed: it is served wherever GET is.
//
// Pure functions; thread-safe, never block. The document is some hundred kilobytes: made once.

#pragma once

#include <string>
#include <string_view>

#include "api/json/parser.h"
#include "projections/registry.h"

namespace api {

// Where the document itself is served, as JSON and as a page, and what says which API this is.
inline constexpr std::string_view kOpenApiPath = "/api/hyperfleet/v1/openapi";
inline constexpr std::string_view kOpenApiPagePath = "/api/hyperfleet/v1/openapi.html";
inline constexpr std::string_view kApiPath = "/api/hyperfleet";

// `version` of the API is the server's.
JsonObject OpenApiDocument(const projections::Registry& registry, std::string_view version);

}  // namespace api
