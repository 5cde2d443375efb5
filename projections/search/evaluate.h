// Whether a resource is what a search looks for.
//
// As in SQL, a comparison with what a resource does not have is neither true nor false, and stays
// so under `not`: `not (deleted_by = 'x')` finds no active resource.
//
// Pure functions; thread-safe, never block.

#pragma once

#include "projections/resources/entry.h"
#include "projections/search/tree.h"
#include "projections/statuses/image.h"

namespace projections::search {

// `statuses` has the conditions; null: there are none.
bool Matches(const Node& node, const ResourceEntry& entry, const StatusesImage* statuses);

}  // namespace projections::search
