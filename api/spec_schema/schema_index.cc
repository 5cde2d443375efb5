#include "api/spec_schema/schema_index.h"

#include <algorithm>
#include <array>
#include <utility>

#include <absl/strings/str_format.h>

#include "api/spec_schema/uri.h"
#include "engine/base/status_macros.h"

namespace api {
namespace {

// What stands under a keyword: a schema, a list of them, or an object of them.
constexpr auto kOne = std::to_array<std::string_view>(
    {"additionalItems", "additionalProperties", "contains", "else", "if", "items", "not",
     "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"});
constexpr auto kLists =
    std::to_array<std::string_view>({"allOf", "anyOf", "items", "oneOf", "prefixItems"});
constexpr auto kMaps =
    std::to_array<std::string_view>({"$defs", "definitions", "dependencies", "dependentSchemas",
                                     "patternProperties", "properties"});

bool IsSchema(const JsonValue& value) {
  return value.is_object() || value.is_bool();
}

// None where it is empty.
const JsonValue* TextMember(const JsonObject& schema, std::string_view key) {
  const JsonValue* value = schema.if_contains(key);
  const bool is_text = value != nullptr && value->is_string() && !value->get_string().empty();
  return is_text ? value : nullptr;
}

std::string_view View(const JsonValue& text) {
  return {text.get_string().data(), text.get_string().size()};
}

}  // namespace

std::vector<SchemaPart> PartsOf(const JsonObject& schema, SchemaDialect dialect) {
  std::vector<SchemaPart> parts;
  if (dialect != SchemaDialect::k202012 && schema.contains("$ref")) {
    // What stands beside a reference is no schema there.
    return parts;
  }
  for (const std::string_view key : kOne) {
    const JsonValue* value = schema.if_contains(key);
    if (value != nullptr && IsSchema(*value)) {
      parts.push_back({value, PointerStep(key)});
    }
  }
  for (const std::string_view key : kLists) {
    const JsonValue* value = schema.if_contains(key);
    if (value == nullptr || !value->is_array()) {
      continue;
    }
    std::size_t index = 0;
    for (const JsonValue& element : value->get_array()) {
      parts.push_back({&element, absl::StrFormat("%s/%d", PointerStep(key), index++)});
    }
  }
  for (const std::string_view key : kMaps) {
    const JsonValue* value = schema.if_contains(key);
    if (value == nullptr || !value->is_object()) {
      continue;
    }
    for (const auto& member : value->get_object()) {
      if (IsSchema(member.value())) {
        parts.push_back({&member.value(), PointerStep(key) + PointerStep(member.key())});
      }
    }
  }
  return parts;
}

absl::Status SchemaIndex::Add(const SchemaPlace& place, SchemaDialect dialect) {
  const JsonObject* schema = place.schema->if_object();
  if (schema == nullptr || bases_.contains(place.schema)) {
    return absl::OkStatus();
  }
  std::string base = place.base;
  RETURN_IF_ERROR(AddNames(*schema, base, place, dialect));
  bases_.emplace(place.schema, base);
  for (SchemaPart& part : PartsOf(*schema, dialect)) {
    RETURN_IF_ERROR(Add({part.schema, base, place.pointer + part.pointer}, dialect));
  }
  return absl::OkStatus();
}

absl::Status SchemaIndex::AddNames(const JsonObject& schema, std::string& base,
                                   const SchemaPlace& place, SchemaDialect dialect) {
  if (dialect == SchemaDialect::kOpenApi30 ||
      (dialect == SchemaDialect::kDraft4 && schema.contains("$ref"))) {
    return absl::OkStatus();
  }
  std::vector<std::string> names;
  if (const JsonValue* id = TextMember(schema, dialect == SchemaDialect::kDraft4 ? "id" : "$id")) {
    UriAndFragment resolved = ResolveUri(base, View(*id));
    if (!resolved.fragment.empty()) {
      // Draft 4 names parts this way.
      names.push_back(absl::StrFormat("%s#%s", resolved.uri, resolved.fragment));
    }
    if (View(*id).front() != '#') {
      base = resolved.uri;
      names.push_back(base);
    }
  }
  for (const std::string_view key : {"$anchor", "$dynamicAnchor"}) {
    const JsonValue* anchor = TextMember(schema, key);
    if (anchor != nullptr && dialect == SchemaDialect::k202012) {
      names.push_back(absl::StrFormat("%s#%s", base, View(*anchor)));
    }
  }
  for (std::string& name : names) {
    const auto [known, is_new] =
        named_.emplace(name, SchemaPlace{place.schema, base, place.pointer});
    if (!is_new && known->second.schema != place.schema) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s: another schema is called %s too", place.pointer, name));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<SchemaPlace> SchemaIndex::Find(std::string_view base,
                                              std::string_view reference) const {
  const UriAndFragment target = ResolveUri(base, reference);
  const bool is_pointer = target.fragment.empty() || target.fragment.front() == '/';
  const auto named =
      named_.find(is_pointer ? target.uri : absl::StrFormat("%s#%s", target.uri, target.fragment));
  if (named == named_.end() && (!is_pointer || !target.uri.empty())) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "$ref \"%s\" leads to nothing in this document, and nothing is fetched", reference));
  }
  SchemaPlace place =
      named == named_.end() ? SchemaPlace{&document_, std::string(), "#"} : named->second;
  if (!is_pointer) {
    return place;
  }
  place.schema = FollowPointer(*place.schema, target.fragment);
  place.pointer += target.fragment;
  if (place.schema == nullptr) {
    return absl::InvalidArgumentError(absl::StrFormat("$ref \"%s\" leads nowhere", reference));
  }
  return place;
}

std::string SchemaIndex::BaseOf(const SchemaPlace& place) const {
  const auto known = bases_.find(place.schema);
  return known == bases_.end() ? place.base : known->second;
}

}  // namespace api
