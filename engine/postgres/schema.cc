#include "engine/postgres/schema.h"

#include <algorithm>

#include <absl/strings/str_format.h>

#include "engine/base/status_macros.h"

namespace engine::postgres {
namespace {

// Schemas that have all of our tables, those of the search path first and in its order.
constexpr char kFindSchemasSql[] =
    "select n.nspname,"
    " coalesce(pg_catalog.array_position(pg_catalog.current_schemas(false), n.nspname), 0)"
    " from pg_catalog.pg_namespace n"
    " where (select count(*) from pg_catalog.pg_class c where c.relnamespace = n.oid"
    "  and c.relkind = 'r'"
    "  and c.relname in ('halo_journal', 'halo_streams', 'halo_schema_migrations')) = 3"
    " and not pg_catalog.pg_is_other_temp_schema(n.oid)"
    " order by nullif(pg_catalog.array_position(pg_catalog.current_schemas(false), n.nspname), 0)"
    " nulls last, n.nspname";

}  // namespace

absl::StatusOr<std::optional<std::string>> FindSchema(pqxx::transaction_base& work) {
  const pqxx::result found = work.exec(kFindSchemasSql);
  if (found.empty()) {
    return std::optional<std::string>();
  }
  if (found.size() > 1 && found[0][1].as<int>() == 0) {
    return absl::FailedPreconditionError(
        "several schemas of the database have our tables and the search path names none of them");
  }
  return std::optional<std::string>(found[0][0].as<std::string>());
}

std::vector<AppliedMigration> ReadApplied(pqxx::transaction_base& work, const std::string& schema) {
  const pqxx::result rows =
      work.exec("select version, name, min_binary_schema from " + work.quote_name(schema) +
                ".halo_schema_migrations order by version");
  std::vector<AppliedMigration> applied;
  for (const auto& row : rows) {
    applied.push_back({row[0].as<int>(), row[1].as<std::string>(), row[2].as<int>()});
  }
  return applied;
}

absl::Status CheckApplied(const std::vector<Migration>& known,
                          const std::vector<AppliedMigration>& applied) {
  const int known_schema = static_cast<int>(known.size());
  for (const Migration& migration : known) {
    const auto found = std::ranges::find(applied, migration.version, &AppliedMigration::version);
    if (found == applied.end()) {
      return absl::FailedPreconditionError(
          absl::StrFormat("the database schema is behind: %s is missing; run `halo-server migrate`",
                          migration.name));
    }
    if (found->name != migration.name) {
      return absl::FailedPreconditionError(
          absl::StrFormat("migration %d of the database is %s, here it is %s", migration.version,
                          found->name, migration.name));
    }
  }
  for (const AppliedMigration& migration : applied) {
    if (migration.version > known_schema && migration.min_binary_schema > known_schema) {
      return absl::FailedPreconditionError(absl::StrFormat(
          "the database schema is ahead: %s needs a binary of schema %d, this one knows %d",
          migration.name, migration.min_binary_schema, known_schema));
    }
  }
  return absl::OkStatus();
}

absl::Status InsertCatalogue(pqxx::transaction_base& work, const std::string& schema,
                             const Catalogue& catalogue) {
  const std::string table = work.quote_name(schema) + ".halo_streams";
  for (const StreamSpec& spec : catalogue) {
    const int id = static_cast<int>(spec.id);
    const auto find = [&] {
      return Exec(work,
                  "select stream_id, name from " + table + " where stream_id = $1 or name = $2", id,
                  spec.name);
    };
    pqxx::result found = find();
    if (found.empty()) {
      // Another replica may do the same; whoever is second finds the row.
      Exec(work,
           "insert into " + table + " (stream_id, name) values ($1, $2) on conflict do nothing", id,
           spec.name);
      found = find();
    }
    if (found.empty()) {
      return absl::FailedPreconditionError(
          absl::StrFormat("stream %s cannot be inserted into halo_streams", spec.name));
    }
    if (found.size() != 1 || found[0][0].as<int>() != id ||
        found[0][1].as<std::string>() != spec.name) {
      return absl::FailedPreconditionError(
          absl::StrFormat("stream %s is number %d here, but the database has %s as number %d",
                          spec.name, id, found[0][1].as<std::string>(), found[0][0].as<int>()));
    }
  }
  return absl::OkStatus();
}

}  // namespace engine::postgres
