// Variables of the environment that are settings.
//
// Thread-safe; never blocks.

#pragma once

#include <string>
#include <string_view>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

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

// Adds `HYPERFLEET_DATABASE_PASSWORD` from the file that `HYPERFLEET_DATABASE_PASSWORD_FILE` names,
// and likewise host, port, name and username; white space at the end does not count. What is there
// without a file wins. Also takes out what Kubernetes made of a service, so that it
// is not taken for a setting (`HALO_SERVER_PORT` of a service `halo-server`).
//
// Fails with kNotFound for a file that cannot be read.
absl::StatusOr<Environment> ReadVariableFiles(Environment environment);

}  // namespace api
