// The fleet of the benchmarks: resources that are the same in every program and every layout.
//
// Eight kinds, Kind0 to Kind7; the last four are children of resources of Kind0, which have a
// hundred of each. Each has five labels, a spec of about 1 kB and two conditions, and was created
// seven seconds after the one before. There are 1,000 tenants (dimension `org`), a quarter of
// whose resources belong to a `project` too, and one more, `org-small`, that has the first hundred
// resources. A condition is False for one resource in a hundred.
//
// Pure functions of the resource's number; thread-safe, never block.

#pragma once

#include <cstddef>
#include <string>

#include "engine/base/clock.h"
#include "engine/journal.h"
#include "projections/resources/state.h"
#include "projections/statuses/state.h"

namespace bench {

// What the variable says at the first call, else 20,000.
inline constexpr char kFleetVariable[] = "HALO_BENCH_RESOURCES";
std::size_t FleetSize();

std::string FleetKind(std::size_t i);
// A UUID of version 7, of the time of creation.
std::string FleetId(std::size_t i);
engine::Timestamp FleetTime(std::size_t i);
// The number of the one that owns it. REQUIRES: it is a child.
std::size_t FleetOwner(std::size_t i);

projections::ResourceState FleetResource(std::size_t i);
projections::ConditionStates FleetConditions(std::size_t i);

// Appends the fleet to an empty journal, in transactions as large as it takes: the records of
// `resources` and `statuses` as requests would have written them, without their audit entries and
// without adapter reports. Ends the program when it cannot. Blocks.
void AppendFleet(engine::Journal& journal, std::size_t size);

}  // namespace bench
