// ScanOn reads whole streams fast: binary COPY, parsed straight into records.

#pragma once

#include "engine/journal.h"
#include "engine/postgres/connection.h"
#include "engine/postgres/statements.h"

namespace engine::postgres {

// Hands the rows of all asked streams to `sink`, a stream after another, from one snapshot. On an
// error the connection may be in the middle of something: close it.
absl::Status ScanOn(Connection& connection, const Statements& statements,
                    const Catalogue& catalogue, const ScanOptions& options, const RowSink& sink,
                    Deadline deadline);

}  // namespace engine::postgres
