// Migrate brings the database to the schema of this binary.

#pragma once

#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "engine/postgres/migration_file.h"
#include "engine/postgres/postgres.h"

namespace engine::postgres {

// How migrations share a database with those who use it.
struct MigrationLimits {
  // In all: for other runners, for tables that are in use, for a database that went away.
  Duration patience = std::chrono::minutes(5);
  // How long DDL queues for a table before it makes way and tries again later: everybody who
  // comes after it, to read or to write, queues behind it for as long.
  Duration lock = std::chrono::milliseconds(250);
  // How long one statement may run, and keep everybody out of its table.
  Duration statement = std::chrono::seconds(10);
};

// Applies all pending migrations in one transaction, under a lock of the migrations' own: one of
// several runners does the work, the others wait for it and find nothing to do. A table that a
// long reader or writer keeps is tried again and again, with pauses, and so is a database that
// went away. Works through a pooler. Returns the names of what it applied, none when there was
// nothing. A process that ends midway leaves nothing behind.
//
// A role in `grant_to` gets what a serving process needs: to read and append, no DDL. Tables are
// made in the first schema of the search path, unless they are elsewhere already. Blocks.
//
// Fails with
//   kInvalidArgument     the options or the URL, a role that does not exist
//   kUnavailable         no database
//   kDeadlineExceeded    another runner, or whoever uses the tables, took too long
//   kFailedPrecondition  the database has other migrations under our numbers, or a statement took
//                        longer than it may
// and with the meaning of the server's error; nothing was changed then.
absl::StatusOr<std::vector<std::string>> Migrate(const Options& options,
                                                 const std::string& grant_to = "");

// The same with migrations of the caller's choice. REQUIRES: ParseMigrations made them.
absl::StatusOr<std::vector<std::string>> MigrateTo(const std::vector<Migration>& migrations,
                                                   const Options& options,
                                                   const std::string& grant_to,
                                                   const MigrationLimits& limits = {});

}  // namespace engine::postgres
