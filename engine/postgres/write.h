// WriteOn runs statements that change rows outside the journal, as one short transaction.
//
// One thread, on a connection. Blocks at most until the deadline.

#pragma once

#include <vector>

#include <absl/status/statusor.h>

#include "engine/postgres/connection.h"
#include "engine/postgres/statements.h"

namespace engine::postgres {

// Begin, our settings, `steps`, commit, in one round trip; the results of `steps`. No statement of
// it waits for a lock longer than `lock_timeout`.
//
// Fails as the server or the connection does, and with kUnavailable when the commit is not known
// to be safe on as many servers as the database wants, or as CheckStillSynchronous does. Whether
// the steps took effect is not known then, except after a clean error of the server. The connection
// is closed when it is not sound.
absl::StatusOr<std::vector<Result>> WriteOn(Connection& connection, const Statements& statements,
                                            std::vector<Step> steps, Duration lock_timeout,
                                            Deadline deadline);

}  // namespace engine::postgres
