// What can be asked of resources: one table, from which both the routes and the OpenAPI document
// (api/openapi) are made, so that neither has anything that the other lacks.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "api/http/request.h"
#include "projections/registry.h"

namespace api {

// Which resources a route is about. Points into the registry.
struct RouteScope {
  const projections::EntityDescriptor* kind = nullptr;    // Null: of any kind.
  const projections::EntityDescriptor* parent = nullptr;  // Not null: the nested route.
  // How many owners of the parent the path names: all of them, or none.
  std::size_t owners_above = 0;
};

// The variable of a path that is the id of an owner: 1 is the parent, 2 its parent, ...
std::string OwnerVariable(std::size_t level);

// What the path of a request says about the owners of the parent, nearest first.
std::vector<std::string> OwnersAbove(const Request& request, RouteScope scope);

enum class ResourceAction {
  kList,
  kCreate,
  kShow,
  kPatch,
  kDelete,
  kForceDelete,
  kHistory,
  kStatuses,
  kReport,
};

struct ResourceOperation {
  ResourceAction action = ResourceAction::kList;
  Method method = Method::kGet;
  std::string pattern;  // As the router takes it; `{id}` and `{parent_id}` are its variables.
  RouteScope scope;
};

// Everything for resources of any kind, then for each kind in the order of the registry, for those
// with a parent also below it, and where that has a parent too, below all of their owners: that is
// what their `href` says.
std::vector<ResourceOperation> ResourceOperations(const projections::Registry& registry);

}  // namespace api
