// Variables of the environment that are settings.
//
// Thread-safe; never blocks.

#pragma once

#include <string>
#include <string_view>

#include <absl/status/status.h>

#include "api/main/settings.h"

namespace api {

// `HALO_DATABASE_MAX_CONNS`, `HYPERFLEET_SERVER_JWT_ENABLED`.
std::string VariableName(std::string_view prefix, std::string_view flag_or_key);

// Refuses a variable HALO_... that is no setting, which would be taken for one in vain. Left alone:
// empty ones, those of the other programs and tests of this project, and what Kubernetes and
// Docker make of a service or container of the name `halo`.
//
// Fails with kFailedPrecondition, naming the variable and the setting that is spelt most like it.
absl::Status CheckVariables(const Environment& environment);

}  // namespace api
