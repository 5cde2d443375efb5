// Which schema our tables are in, and whether this binary can work with what is there.
//
// One thread, on a connection; every call blocks on the database.

#pragma once

#include <optional>
#include <string>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/journal.h"
#include "engine/postgres/migration_file.h"
#include "engine/postgres/pqxx_shim.h"

namespace engine::postgres {

// Where the tables are: the first schema of the search path that has all of ours, else the only
// one in the database that has. Empty when there is none.
//
// Fails with kFailedPrecondition when there are several and the search path names none of them.
absl::StatusOr<std::optional<std::string>> FindSchema(pqxx::transaction_base& work);

// A row of halo_schema_migrations.
struct AppliedMigration {
  int version = 0;
  std::string name;
  int min_binary_schema = 0;
};
std::vector<AppliedMigration> ReadApplied(pqxx::transaction_base& work, const std::string& schema);

// Whether a binary that knows `known` can work with what was applied: all of `known` was, and
// whatever is newer accepts it. Fails with kFailedPrecondition.
absl::Status CheckApplied(const std::vector<Migration>& known,
                          const std::vector<AppliedMigration>& applied);

// Inserts the streams that the store lacks. Fails with kFailedPrecondition when a stream has
// another name or number there.
absl::Status InsertCatalogue(pqxx::transaction_base& work, const std::string& schema,
                             const Catalogue& catalogue);

}  // namespace engine::postgres
