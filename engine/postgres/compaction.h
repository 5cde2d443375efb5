// CompactOn: one step of compaction, in a transaction of its own.

#pragma once

#include <absl/status/statusor.h>

#include "engine/journal.h"
#include "engine/postgres/connection.h"
#include "engine/postgres/statements.h"

namespace engine::postgres {

// Journal::Compact over `connection`. After a failure the connection may be in a transaction:
// close it. One thread; blocks at most until `deadline`.
absl::StatusOr<Floor> CompactOn(Connection& connection, const Statements& statements,
                                const Catalogue& catalogue, const CompactionStep& step,
                                Deadline deadline);

}  // namespace engine::postgres
