// The JSON document of a resource, as every answer shows it. docs/resources.md lists its members.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <string>

#include "projections/registry.h"
#include "schemas/resource_generated.h"
#include "schemas/status_generated.h"

namespace projections {

// The first segments of every path of resources.
inline constexpr std::string_view kResourcesBase = "/api/hyperfleet/v1/";

// `{kResourcesBase}{plural}/{id}` for a root, `{owner_href}/{plural}/{id}` for a child.
// `owner_href` is empty for a root.
std::string ResourceHref(std::string_view owner_href, std::string_view plural, std::string_view id);

// Appends the document to `out`. `status` has its conditions; null: none were ever recorded. A kind
// that `registry` does not know (any more) is shown without conditions, and a reference to one
// without href.
void AppendResourceDocument(const schemas::Resource& resource,
                            const schemas::ResourceStatus* status, const Registry& registry,
                            std::string& out);

// The same without `status`, which is not the record's: what a resource was at some point.
void AppendResourceState(const schemas::Resource& resource, const Registry& registry,
                         std::string& out);

}  // namespace projections
