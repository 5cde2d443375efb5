// The routes of resources, generated from the registry: for each kind eight (without statuses) at
// `/api/hyperfleet/v1/{plural}`, the same below its parent, and the kind-agnostic ones at
// `/api/hyperfleet/v1/resources`. Errors are problem documents. docs/resources.md.

#pragma once

#include "api/dispatch/dispatcher.h"
#include "projections/registry.h"

namespace api {

// Both arguments must outlive the router's use.
void AddResourceRoutes(Dispatcher& dispatcher, const projections::Registry& registry);

// Which resources a route is about. Points into the registry.
struct RouteScope {
  const projections::EntityDescriptor* kind = nullptr;    // Null: of any kind.
  const projections::EntityDescriptor* parent = nullptr;  // Not null: the nested route.
};

// The parts: GET of one and of a list, and everything that changes something.
void AddReads(Dispatcher& dispatcher, const projections::Registry& registry, RouteScope scope);
void AddMutations(Dispatcher& dispatcher, const projections::Registry& registry, RouteScope scope);

// `/api/hyperfleet/v1/clusters/{parent_id}/nodepools`, `.../resources` without a kind.
std::string CollectionPattern(RouteScope scope);

}  // namespace api
