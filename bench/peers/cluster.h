// The Postgres of the comparisons, and the fleet in it, once in each layout.

#pragma once

#include <memory>
#include <string>

#include "tests/support/postgres.h"

namespace bench {

// A throwaway server whose settings help the relational side: shared_buffers is a quarter of the
// memory rather than 128 MB, pages cost what they do in memory, and JIT is off. Ends the program
// when it cannot be started.
std::unique_ptr<support::PostgresCluster> StartPeersCluster();

// Fills two databases of one server with the fleet (bench/support/fleet.h), the empty one of
// `relational_url` with the seed's tables and the one of `journal_url`, which is empty or migrated,
// through the journal's own append; and analyzes both. Says how long that took. Blocks; ends the
// program when it cannot.
void FillBoth(const std::string& relational_url, const std::string& journal_url);

}  // namespace bench
