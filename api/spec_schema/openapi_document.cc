#include "api/spec_schema/openapi_document.h"

#include <utility>

#include <absl/strings/str_format.h>

#include "api/spec_schema/compiler.h"
#include "api/spec_schema/uri.h"
#include "api/spec_schema/yaml.h"
#include "engine/base/status_macros.h"

namespace api {
namespace {

absl::Status Refuse(std::string_view what) {
  return absl::InvalidArgumentError(std::string(what));
}

absl::StatusOr<JsonValue> ReadDocument(const std::string& text) {
  if (text.size() > kMaxOpenApiBytes) {
    return Refuse(absl::StrFormat("larger than %d bytes", kMaxOpenApiBytes));
  }
  const std::size_t start = text.find_first_not_of(" \t\r\n");
  if (start == std::string::npos || text[start] != '{') {
    return JsonOfYaml(text);
  }
  JsonParse parsed = ParseJson(text);
  if (!parsed.ok()) {
    return Refuse(parsed.error.message);
  }
  return *std::move(parsed.value);
}

// Null where it is missing or no object.
const JsonObject* ObjectAt(const JsonObject& in, std::string_view key) {
  const JsonValue* value = in.if_contains(key);
  return value == nullptr ? nullptr : value->if_object();
}

std::string_view TextAt(const JsonObject& in, std::string_view key) {
  const JsonValue* value = in.if_contains(key);
  if (value == nullptr || !value->is_string()) {
    return "";
  }
  return {value->get_string().data(), value->get_string().size()};
}

absl::StatusOr<SchemaDialect> DialectOf(const JsonObject& document) {
  const std::string_view version = TextAt(document, "openapi");
  if (version.starts_with("3.0.")) {
    return SchemaDialect::kOpenApi30;
  }
  if (version.starts_with("3.1.")) {
    return SchemaDialect::k202012;
  }
  return Refuse("not an OpenAPI document: openapi must be a text such as \"3.0.3\" or \"3.1.0\"");
}

absl::Status CheckPaths(const JsonObject& document, SchemaDialect dialect) {
  if (const JsonObject* paths = ObjectAt(document, "paths")) {
    for (const auto& path : *paths) {
      const std::string_view key(path.key().data(), path.key().size());
      if (!key.starts_with('/') && !key.starts_with("x-")) {
        return Refuse(absl::StrFormat("paths: \"%s\" must start with a slash", key));
      }
      if (!path.value().is_object() && key.starts_with('/')) {
        return Refuse(absl::StrFormat("paths: \"%s\" must be an object", key));
      }
    }
    return absl::OkStatus();
  }
  if (document.contains("paths") || dialect == SchemaDialect::kOpenApi30) {
    return Refuse("paths must be an object");
  }
  const bool is_enough = document.contains("components") || document.contains("webhooks");
  return is_enough ? absl::OkStatus() : Refuse("it has neither paths, components nor webhooks");
}

absl::Status CheckComponents(const JsonObject& document) {
  const JsonObject* components = ObjectAt(document, "components");
  if (components == nullptr) {
    return document.contains("components") ? Refuse("components must be an object")
                                           : absl::OkStatus();
  }
  if (components->contains("schemas") && ObjectAt(*components, "schemas") == nullptr) {
    return Refuse("components.schemas must be an object");
  }
  return absl::OkStatus();
}

absl::Status CheckInfo(const JsonObject& document) {
  const JsonObject* info = ObjectAt(document, "info");
  if (info == nullptr || TextAt(*info, "title").empty() || TextAt(*info, "version").empty()) {
    return Refuse("info must have a title and a version, both texts");
  }
  return absl::OkStatus();
}

const JsonObject* SchemasOf(const JsonValue& root) {
  const JsonObject* components = ObjectAt(root.get_object(), "components");
  return components == nullptr ? nullptr : ObjectAt(*components, "schemas");
}

SchemaPlace PlaceOf(std::string_view name, const JsonValue& schema) {
  return {&schema, "", "#/components/schemas" + PointerStep(name)};
}

}  // namespace

absl::StatusOr<OpenApiDocument> OpenApiDocument::Parse(const std::string& text) {
  ASSIGN_OR_RETURN(JsonValue value, ReadDocument(text));
  const auto root = std::make_shared<const JsonValue>(std::move(value));
  const JsonObject* document = root->if_object();
  if (document == nullptr) {
    return Refuse("not an OpenAPI document: expected an object");
  }
  ASSIGN_OR_RETURN(const SchemaDialect dialect, DialectOf(*document));
  RETURN_IF_ERROR(CheckInfo(*document));
  RETURN_IF_ERROR(CheckPaths(*document, dialect));
  RETURN_IF_ERROR(CheckComponents(*document));
  OpenApiDocument parsed(root, dialect);
  if (const JsonObject* schemas = SchemasOf(*root)) {
    for (const auto& schema : *schemas) {
      RETURN_IF_ERROR(parsed.index_.Add(PlaceOf(schema.key(), schema.value()), dialect));
    }
  }
  return parsed;
}

absl::StatusOr<std::optional<SchemaProgram>> OpenApiDocument::Compile(std::string_view name) const {
  const JsonObject* schemas = SchemasOf(*root_);
  const JsonValue* schema = schemas == nullptr ? nullptr : schemas->if_contains(name);
  if (schema == nullptr) {
    return std::optional<SchemaProgram>();
  }
  ASSIGN_OR_RETURN(SchemaProgram program,
                   CompileSchema(index_, PlaceOf(name, *schema), {dialect_, true}));
  return std::optional(std::move(program));
}

}  // namespace api
