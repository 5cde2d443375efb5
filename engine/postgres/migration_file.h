// MigrationFile: one file of migrations/, judged.
//
// Thread-safe; never blocks.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

namespace engine::postgres {

// A file as it is in the tree: `0001_init.sql` and its text.
struct MigrationSource {
  std::string_view name;
  std::string_view text;
};

struct Migration {
  int version = 0;
  std::string name;
  int min_binary_schema = 0;  // The least schema a binary must know to work with it applied.
  std::string sql;
};

// Fails with kInvalidArgument, naming the file, when
//   - its name is not NNNN_what.sql, or the numbers are not 1, 2, 3, ... without gaps,
//   - it has no line `-- min-binary-schema: N`, or N is not between 1 and its own number,
//   - it drops, renames or truncates something or changes a type: replicas of the version before
//     still use it,
//   - it ends the transaction that all migrations share, or cannot run in one.
absl::StatusOr<std::vector<Migration>> ParseMigrations(std::span<const MigrationSource> sources);

// The migrations that are built into this binary; their number is the schema that it knows.
const std::vector<Migration>& EmbeddedMigrations();

}  // namespace engine::postgres
