// A record as the data of an event. docs/watch.md lists the members.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <string>

#include "engine/journal.h"
#include "engine/view.h"
#include "projections/registry.h"
#include "projections/resources/tenant_scope.h"

namespace api {

// `"position":7,"tx":5,`: what only operators see.
void AppendPlace(const engine::Record& record, std::string& out);

// The other members of the object, without its braces; the same for all who see the record. One
// line. A record that cannot be decoded shows an `error`: it has been folded, so that is a bug.
std::string EventText(const engine::Record& record, const engine::Catalogue& catalogue,
                      const projections::Registry& registry);

// Whether a record is about a resource that `tenant` sees; `before` as in RecentRecord. What is
// said of the status of a resource is seen while the resource is in `view`. Records of streams that
// are of no tenant are seen: who may watch these is asked before.
bool IsSeenBy(const projections::TenantScope& tenant, const engine::Record& record,
              const engine::Payload& before, const engine::View& view);

}  // namespace api
