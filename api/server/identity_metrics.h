// What a server says of its callers on /metrics and in its log.
//
// Thread-safe; never block.

#pragma once

#include "api/identity/authenticator.h"
#include "api/server/metrics.h"
#include "engine/view.h"

namespace api {

// `halo_jwks_...`: nothing where no tokens are checked.
void AddIssuers(const Authenticator& authenticator, Samples& samples);

// `halo_resources_without_tenancy`. For servers that tell tenants apart.
void AddTenancy(const engine::View& view, Samples& samples);

// A warning if there are such resources.
void WarnOfNobodys(const engine::View& view);

}  // namespace api
