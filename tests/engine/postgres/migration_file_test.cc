#include "engine/postgres/migration_file.h"

#include <gmock/gmock.h>

#include "tests/support/status_matchers.h"

namespace engine::postgres {
namespace {

using support::StatusIs;
using testing::HasSubstr;

constexpr std::string_view kHeader = "-- min-binary-schema: 1\n";

absl::Status Parse(std::string_view name, const std::string& text) {
  const MigrationSource source{name, text};
  return ParseMigrations({&source, 1}).status();
}

absl::Status ParseBody(const std::string& body) {
  return Parse("0001_x.sql", std::string(kHeader) + body);
}

TEST(MigrationFileTest, TheEmbeddedOnesAreSound) {
  const std::vector<Migration>& migrations = EmbeddedMigrations();
  ASSERT_FALSE(migrations.empty());
  EXPECT_EQ(migrations[0].name, "0001_init.sql");
  EXPECT_EQ(migrations[0].min_binary_schema, 1);
  EXPECT_THAT(migrations[0].sql, HasSubstr("create table halo_journal"));
}

TEST(MigrationFileTest, NumbersGoUpByOne) {
  const std::string text(kHeader);
  const MigrationSource good[] = {{"0001_a.sql", text}, {"0002_b.sql", text}};
  EXPECT_OK(ParseMigrations(good));
  const MigrationSource gap[] = {{"0001_a.sql", text}, {"0003_b.sql", text}};
  EXPECT_THAT(ParseMigrations(gap), StatusIs(absl::StatusCode::kInvalidArgument,
                                             HasSubstr("0003_b.sql: the next number is 0002")));
  const MigrationSource twice[] = {{"0001_a.sql", text}, {"0001_b.sql", text}};
  EXPECT_THAT(ParseMigrations(twice), StatusIs(absl::StatusCode::kInvalidArgument));
  for (const char* name : {"1_a.sql", "0001.sql", "0001_.sql", "0001_a.txt", "x/0001_a.sql"}) {
    EXPECT_THAT(Parse(name, text), StatusIs(absl::StatusCode::kInvalidArgument)) << name;
  }
}

TEST(MigrationFileTest, TheLeastBinarySchemaMustBeNamed) {
  for (const char* text :
       {"create table t (a int);", "-- min-binary-schema: \n", "-- min-binary-schema: 0\n",
        "-- min-binary-schema: 2\n", " -- min-binary-schema: 1\n"}) {
    EXPECT_THAT(Parse("0001_x.sql", text),
                StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("min-binary-schema")))
        << text;
  }
}

TEST(MigrationFileTest, WhatOlderReplicasStillUseMayNotChange) {
  for (const char* body :
       {"drop table t;", "DROP INDEX i;", "alter table t drop column c;",
        "alter table t rename to u;", "alter table t alter column c type bigint;",
        "alter table t alter c set data type bigint;", "truncate t;", "begin; create table t();",
        "create table t(); commit;", "rollback;", "create index concurrently i on t (a);",
        "/* a comment */ drop table t;"}) {
    EXPECT_THAT(ParseBody(body), StatusIs(absl::StatusCode::kInvalidArgument)) << body;
  }
}

TEST(MigrationFileTest, CommentsAndQuotedTextMayNameAnything) {
  for (const char* body :
       {"-- we never drop a table\ncreate table t (a int);", "comment on table t is 'drop it; no';",
        "create table \"drop\" (a int);", "/* rename */ create table t (a int);",
        "create function f() returns void language sql as $b$ commit; drop table t $b$;",
        "create type mood as enum ('a');", "create table backdrop (end_of_life int);"}) {
    EXPECT_OK(ParseBody(body)) << body;
  }
}

}  // namespace
}  // namespace engine::postgres
