// The routes of resources, generated from the registry: for each kind at
// `/api/hyperfleet/v1/{plural}`, the same below its parent, and the kind-agnostic ones at
// `/api/hyperfleet/v1/resources`. Errors are problem documents. docs/resources.md.

#pragma once

#include <memory>

#include "api/dispatch/dispatcher.h"
#include "api/resources/operations.h"
#include "api/resources/reconciliations.h"
#include "api/spec_schema/spec_schemas.h"
#include "projections/registry.h"
#include "projections/resources/rules.h"

namespace api {

// All arguments must outlive the router's use.
void AddResourceRoutes(Dispatcher& dispatcher, const projections::Registry& registry,
                       const SpecSchemas& schemas, Reconciliations& reconciliations);

// What the path of a call names.
projections::Target TargetOf(const Call& call, RouteScope scope);

// An answer of more bytes is written down by a worker: that takes as long as some hundred other
// requests.
inline constexpr std::size_t kShownInPlace = std::size_t{1} << 20;

// The reports about a resource.
Dispatcher::ReadAnswer ShowStatuses(const Call& call, const LatestView& view,
                                    const projections::Registry& registry, RouteScope scope);

class RemovedResources;

// The parts: one operation that only looks, one that changes something, and one that looks back.
void AddRead(Dispatcher& dispatcher, const projections::Registry& registry,
             const ResourceOperation& operation);
void AddMutation(Dispatcher& dispatcher, const projections::Registry& registry,
                 const SpecSchemas& schemas, Reconciliations& reconciliations,
                 const ResourceOperation& operation);
void AddHistory(Dispatcher& dispatcher, const projections::Registry& registry,
                const ResourceOperation& operation, std::shared_ptr<RemovedResources> removed);

}  // namespace api
