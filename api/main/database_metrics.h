// What the Postgres backend says of itself on /metrics.

#pragma once

#include "api/server/metrics.h"
#include "engine/postgres/postgres.h"

namespace api {

// Adds the samples of `halo_db_...`. Thread-safe; does not block.
void AddDatabase(const engine::postgres::Stats& stats, Samples& samples);

}  // namespace api
