// Where to listen, and with what.

#pragma once

#include <absl/status/status.h>

#include "api/main/settings.h"
#include "api/server/server.h"

namespace api {

// The three listeners' addresses and their TLS. Reads the files of certificates and keys. Fails as
// ReadServeConfig does.
absl::Status ReadListeners(const Settings& settings, ServerOptions& server);

}  // namespace api
