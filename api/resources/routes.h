// The routes of resources, generated from the registry: for each kind (without statuses) at
// `/api/hyperfleet/v1/{plural}`, the same below its parent, and the kind-agnostic ones at
// `/api/hyperfleet/v1/resources`. Errors are problem documents. docs/resources.md.

#pragma once

#include <memory>

#include "api/dispatch/dispatcher.h"
#include "api/resources/operations.h"
#include "api/spec_schema/spec_schemas.h"
#include "projections/registry.h"

namespace api {

// All arguments must outlive the router's use.
void AddResourceRoutes(Dispatcher& dispatcher, const projections::Registry& registry,
                       const SpecSchemas& schemas);

class RemovedResources;

// The parts: one operation that only looks, one that changes something, and one that looks back.
void AddRead(Dispatcher& dispatcher, const projections::Registry& registry,
             const ResourceOperation& operation);
void AddMutation(Dispatcher& dispatcher, const projections::Registry& registry,
                 const SpecSchemas& schemas, const ResourceOperation& operation);
void AddHistory(Dispatcher& dispatcher, const projections::Registry& registry,
                const ResourceOperation& operation, std::shared_ptr<RemovedResources> removed);

}  // namespace api
