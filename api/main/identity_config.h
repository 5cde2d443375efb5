// Who may use the routes of resources, as the settings say.

#pragma once

#include <absl/status/status.h>

#include "api/main/serve_config.h"
#include "api/main/settings.h"

namespace api {

// Fills in `config.server.identity`, and the warning where something is open to somebody.
// REQUIRES: the listeners have been read.
//
// Without tokens to check there are two honest ways: nobody but this machine, or everybody because
// somebody said so. Everything else fails with kFailedPrecondition, naming the setting (of a flag
// with kInvalidArgument); a file that cannot be read with kNotFound.
absl::Status ReadIdentity(const Settings& settings, ServeConfig& config);

}  // namespace api
