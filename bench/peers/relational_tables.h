// The first seed's own layout: its five tables with its indexes, filled with the fleet.
//
// Names, columns and indexes are those of its migrations (as of 202608181200), so that its queries
// (bench/peers/relational.h) run as they are.

#pragma once

#include <cstddef>
#include <string>

namespace bench {

// Makes the tables in the empty database of the URL and fills them with the first `size` resources
// of the fleet: COPY first, then keys and indexes, then VACUUM ANALYZE, which a server that has
// run for a while has behind it. Blocks; ends the program when it cannot.
void MakeRelationalTables(const std::string& url, std::size_t size);

}  // namespace bench
