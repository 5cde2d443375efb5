// Schemas and values written as JSON, for tests.

#pragma once

#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "api/spec_schema/compiler.h"
#include "api/spec_schema/validator.h"

namespace schema_test {

inline api::JsonValue Json(std::string_view text) {
  api::JsonParse parsed = api::ParseJson(text);
  EXPECT_TRUE(parsed.ok()) << text << ": " << parsed.error.message;
  return parsed.ok() ? *std::move(parsed.value) : api::JsonValue();
}

inline absl::StatusOr<api::SchemaProgram> Compile(
    const api::JsonValue& schema, api::SchemaDialect dialect = api::SchemaDialect::k202012) {
  api::SchemaIndex index(schema);
  const api::SchemaPlace root{&schema, "", "#"};
  const absl::Status added = index.Add(root, dialect);
  if (!added.ok()) {
    return added;
  }
  return api::CompileSchema(index, root, {dialect, true});
}

// What is wrong, one message a line; "ok" when nothing is.
inline std::string VerdictOf(const api::JsonValue& schema, const api::JsonValue& value,
                             api::SchemaDialect dialect = api::SchemaDialect::k202012) {
  const auto program = Compile(schema, dialect);
  if (!program.ok()) {
    return "refused: " +
           std::string(program.status().message().data(), program.status().message().size());
  }
  std::string verdict;
  for (const api::SchemaError& error : CheckAgainst(*program, value, "spec")) {
    verdict +=
        error.message + (error.constraint.empty() ? "" : " [" + error.constraint + "]") + "\n";
  }
  return verdict.empty() ? "ok" : verdict;
}

inline std::string Verdict(std::string_view schema, std::string_view value,
                           api::SchemaDialect dialect = api::SchemaDialect::k202012) {
  return VerdictOf(Json(schema), Json(value), dialect);
}

}  // namespace schema_test
