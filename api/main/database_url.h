// Which database, and how to reach it.

#pragma once

#include <absl/status/statusor.h>

#include "api/main/settings.h"
#include "engine/postgres/postgres.h"

namespace api {

// Whether a database is configured: by --database-url-file, or by database.host, .name and so on.
// Fails with kFailedPrecondition when both are.
absl::StatusOr<bool> HasDatabase(const Settings& settings);

// REQUIRES: HasDatabase. Fails as ReadServeConfig does.
absl::StatusOr<engine::postgres::Options> ReadDatabase(const Settings& settings);
// The same, past a pooler where --direct-database-url-file says how.
absl::StatusOr<engine::postgres::Options> ReadDirectDatabase(const Settings& settings);

}  // namespace api
