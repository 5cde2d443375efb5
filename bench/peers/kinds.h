// The kinds of the fleet (bench/support/fleet.h), as a server knows them: two adapters have to
// report about each resource before it is reconciled, and tenants are told apart by headers.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <string>
#include <vector>

#include "projections/registry.h"

namespace bench {

inline constexpr char kSystemHeader[] = "X-HyperFleet-System";
inline constexpr char kOrgHeader[] = "X-HyperFleet-Org";
inline constexpr char kProjectHeader[] = "X-HyperFleet-Project";
inline constexpr char kApi[] = "/api/hyperfleet/v1/";

const std::vector<projections::EntityDescriptor>& FleetKinds();

// The configuration file of a halo-server with these kinds and tenants, and without tokens.
std::string FleetConfig();

}  // namespace bench
