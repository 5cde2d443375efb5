// OpenApiDocument: the deployer's OpenAPI document, as far as schemas of specs are concerned.
//
// 3.0.x or 3.1.x, as YAML or JSON, of at most 4 MiB. References stay inside the document: nothing
// is fetched. Only the schemas that are asked for are compiled, with all they lead to, so a pattern
// that cannot be run in a schema nobody uses does no harm.
//
// Immutable, so thread-safe; never blocks.

#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>

#include "api/json/parser.h"
#include "api/spec_schema/program.h"
#include "api/spec_schema/schema_index.h"

namespace api {

inline constexpr std::size_t kMaxOpenApiBytes = std::size_t{4} << 20;

class OpenApiDocument {
 public:
  // Fails with kInvalidArgument and what is wrong: not YAML or JSON, too large, no OpenAPI
  // document of a version that is known.
  static absl::StatusOr<OpenApiDocument> Parse(const std::string& text);

  // Empty when components.schemas has no such schema. Fails as CompileSchema does.
  absl::StatusOr<std::optional<SchemaProgram>> Compile(std::string_view name) const;

 private:
  OpenApiDocument(std::shared_ptr<const JsonValue> root, SchemaDialect dialect)
      : root_(std::move(root)), dialect_(dialect), index_(*root_) {}

  std::shared_ptr<const JsonValue> root_;  // Where it stays, for the index.
  SchemaDialect dialect_;
  SchemaIndex index_;
};

}  // namespace api
