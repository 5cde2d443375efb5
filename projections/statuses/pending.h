// CountPending: how many resources are not reconciled, and for how long.
//
// A pure function; thread-safe, never blocks. Costs a look-up for each resource that is not
// reconciled, none for the others.

#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "projections/resources/image.h"
#include "projections/statuses/image.h"

namespace projections {

struct PendingReconciliation {
  std::string kind;
  bool is_delete = false;  // The resource is finalizing.
  std::size_t pending = 0;
  // Of them, those that have been so for longer than the threshold, and the longest such time in
  // seconds; 0 when there is none.
  std::size_t stuck = 0;
  double stuck_seconds = 0;

  friend bool operator==(const PendingReconciliation&, const PendingReconciliation&) = default;
};

// One entry for each kind and `is_delete` that has any, by kind. How long: since the condition
// Reconciled became False.
std::vector<PendingReconciliation> CountPending(const StatusesImage& statuses,
                                                const ResourcesImage& resources,
                                                engine::Timestamp now, engine::Duration threshold);

}  // namespace projections
