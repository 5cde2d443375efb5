// SchemaIndex: which schema a reference means.
//
// Knows one document: its root, the schemas in it that have an identifier of their own (`$id`, `id`
// in draft 4), and the names they give to parts (`$anchor`). Only where a schema can stand is
// looked for identifiers: not in an `enum`, an example or a property that is called `$id`.

#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <absl/container/flat_hash_map.h>
#include <absl/status/statusor.h>

#include "api/json/parser.h"

namespace api {

enum class SchemaDialect {
  kDraft4,
  kOpenApi30,  // Draft 4 with `nullable`, without identifiers.
  k202012,     // Also of OpenAPI 3.1.
};

// A place in the document.
struct SchemaPlace {
  const JsonValue* schema = nullptr;
  std::string base;     // What references in it are relative to.
  std::string pointer;  // For messages: `#/components/schemas/ClusterSpec`.
};

// Immutable once made, so thread-safe. The document must outlive it, where it is.
class SchemaIndex {
 public:
  explicit SchemaIndex(const JsonValue& document) : document_(document) {}

  // Looks for identifiers in a schema and all below it. Fails with kInvalidArgument when two are
  // the same.
  absl::Status Add(const SchemaPlace& place, SchemaDialect dialect);

  // Fails with kInvalidArgument: it leads nowhere, or out of the document.
  absl::StatusOr<SchemaPlace> Find(std::string_view base, std::string_view reference) const;

  // What references in this schema itself are relative to: the place's base, or its identifier.
  std::string BaseOf(const SchemaPlace& place) const;

 private:
  absl::Status AddNames(const JsonObject& schema, std::string& base, const SchemaPlace& place,
                        SchemaDialect dialect);
  absl::Status AddParts(const JsonObject& schema, const SchemaPlace& place, SchemaDialect dialect);

  const JsonValue& document_;
  absl::flat_hash_map<std::string, SchemaPlace> named_;  // By URI, or URI # anchor.
  absl::flat_hash_map<const JsonValue*, std::string> bases_;
};

// Every schema that stands directly in `schema`, with the pointer to it from there.
struct SchemaPart {
  const JsonValue* schema = nullptr;
  std::string pointer;
};
std::vector<SchemaPart> PartsOf(const JsonObject& schema, SchemaDialect dialect);

}  // namespace api
