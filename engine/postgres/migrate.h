// Migrate brings the database to the schema of this binary.

#pragma once

#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "engine/postgres/migration_file.h"
#include "engine/postgres/postgres.h"

namespace engine::postgres {

// Applies all pending migrations in one transaction, under a lock of the migrations' own: one of
// several runners does the work, the others wait for it, up to five minutes, and find nothing to
// do. Works through a pooler. Returns the names of what it applied, none when there was nothing.
//
// A role in `grant_to` gets what a serving process needs: to read and append, no DDL. Tables are
// made in the first schema of the search path, unless they are elsewhere already. Blocks.
//
// Fails with
//   kInvalidArgument     the options or the URL, a role that does not exist
//   kUnavailable         no database
//   kDeadlineExceeded    another runner took too long
//   kFailedPrecondition  the database has other migrations under our numbers
// and with the meaning of the server's error; nothing was changed then.
absl::StatusOr<std::vector<std::string>> Migrate(const Options& options,
                                                 const std::string& grant_to = "");

// The same with migrations of the caller's choice. REQUIRES: ParseMigrations made them.
absl::StatusOr<std::vector<std::string>> MigrateTo(const std::vector<Migration>& migrations,
                                                   const Options& options,
                                                   const std::string& grant_to);

}  // namespace engine::postgres
