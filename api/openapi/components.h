// The parameters, headers and responses that operations of the OpenAPI document share, and the tags
// that sort them. Part of api/openapi.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <span>
#include <string_view>

#include "api/json/parser.h"
#include "projections/registry.h"

namespace api {

// What operations are sorted by: the service itself, resources of every kind, and each kind.
JsonArray DocumentTags(const projections::Registry& registry);

// `components.parameters`, `.headers`, `.responses` and `.securitySchemes`. What may be refused is
// a response each, named by its status: `Problem404`, and `Fault` for what has no status of its
// own.
JsonObject ComponentParameters();
JsonObject ComponentHeaders();
JsonObject ComponentResponses();
JsonObject ComponentSecurity();

// A response with `schema` as its body, or without one when that is empty. It carries an ETag
// where it shows one resource.
JsonObject Success(std::string_view description, std::string_view schema, bool has_tag);

// Adds the refusals with these statuses, and the default, to the responses of an operation.
void AddRefusals(std::span<const int> statuses, JsonObject& responses);

}  // namespace api
