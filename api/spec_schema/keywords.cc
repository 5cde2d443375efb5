#include "api/spec_schema/keywords.h"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <absl/strings/str_format.h>

#include "api/spec_schema/values.h"
#include "engine/base/status_macros.h"

namespace api {
namespace {

std::string_view View(const JsonValue& text) {
  return {text.get_string().data(), text.get_string().size()};
}

struct TypeName {
  std::string_view name;
  std::uint8_t bits = 0;
};
constexpr auto kTypes = std::to_array<TypeName>({{"null", kNullType},
                                                 {"boolean", kBooleanType},
                                                 {"object", kObjectType},
                                                 {"array", kArrayType},
                                                 {"string", kStringType},
                                                 {"number", kNumberType | kIntegerType},
                                                 {"integer", kIntegerType}});

absl::Status AddType(const JsonValue& name, const SchemaPlace& place, std::uint8_t& types) {
  for (const TypeName& type : kTypes) {
    if (name.is_string() && View(name) == type.name) {
      types = static_cast<std::uint8_t>(types | type.bits);
      return absl::OkStatus();
    }
  }
  return Wrong(place, "type must be one of null, boolean, object, array, string, number, integer");
}

absl::Status ReadTypes(const JsonObject& schema, const SchemaPlace& place, SchemaNode& node) {
  const JsonValue* type = schema.if_contains("type");
  if (type == nullptr) {
    return absl::OkStatus();
  }
  node.types = 0;
  if (!type->is_array()) {
    return AddType(*type, place, node.types);
  }
  for (const JsonValue& name : type->get_array()) {
    RETURN_IF_ERROR(AddType(name, place, node.types));
  }
  return absl::OkStatus();
}

absl::Status ReadFlag(const JsonObject& schema, const SchemaPlace& place, std::string_view key,
                      bool& flag) {
  if (const JsonValue* value = schema.if_contains(key)) {
    if (!value->is_bool()) {
      return Wrong(place, absl::StrFormat("%s must be true or false", key));
    }
    flag = value->get_bool();
  }
  return absl::OkStatus();
}

absl::StatusOr<const JsonValue*> NumberMember(const JsonObject& schema, const SchemaPlace& place,
                                              std::string_view key) {
  const JsonValue* value = schema.if_contains(key);
  if (value != nullptr && !value->is_number()) {
    return Wrong(place, absl::StrFormat("%s must be a number", key));
  }
  return value;
}

absl::Status ReadCount(const JsonObject& schema, const SchemaPlace& place, std::string_view key,
                       std::optional<std::size_t>& count) {
  ASSIGN_OR_RETURN(const JsonValue* value, NumberMember(schema, place, key));
  if (value == nullptr) {
    return absl::OkStatus();
  }
  if (!IsWhole(*value) || CompareNumbers(*value, JsonValue(0)) < 0) {
    return Wrong(place, absl::StrFormat("%s must be a whole number, 0 or more", key));
  }
  const JsonValue most(std::numeric_limits<std::int64_t>::max());
  count = CompareNumbers(*value, most) >= 0 ? std::numeric_limits<std::size_t>::max()
                                            : value->to_number<std::size_t>();
  return absl::OkStatus();
}

absl::Status ReadBounds(const JsonObject& schema, const SchemaPlace& place,
                        const SchemaOptions& options, std::string_view key,
                        std::string_view exclusive_key, std::vector<Bound>& bounds) {
  ASSIGN_OR_RETURN(const JsonValue* limit, NumberMember(schema, place, key));
  bool exclusive = false;
  if (options.dialect != SchemaDialect::k202012) {
    RETURN_IF_ERROR(ReadFlag(schema, place, exclusive_key, exclusive));
  } else {
    ASSIGN_OR_RETURN(const JsonValue* other, NumberMember(schema, place, exclusive_key));
    if (other != nullptr) {
      bounds.push_back({*other, true});
    }
  }
  if (limit != nullptr) {
    bounds.push_back({*limit, exclusive});
  }
  return absl::OkStatus();
}

absl::Status ReadNumbers(const JsonObject& schema, const SchemaPlace& place,
                         const SchemaOptions& options, ScalarRules& rules) {
  RETURN_IF_ERROR(
      ReadBounds(schema, place, options, "minimum", "exclusiveMinimum", rules.minimums));
  RETURN_IF_ERROR(
      ReadBounds(schema, place, options, "maximum", "exclusiveMaximum", rules.maximums));
  ASSIGN_OR_RETURN(const JsonValue* divisor, NumberMember(schema, place, "multipleOf"));
  if (divisor != nullptr) {
    if (!IsPositive(*divisor)) {
      return Wrong(place, "multipleOf must be more than 0");
    }
    rules.multiple_of = *divisor;
  }
  return absl::OkStatus();
}

absl::Status ReadTexts(const JsonObject& schema, const SchemaPlace& place,
                       const SchemaOptions& options, ScalarRules& rules) {
  RETURN_IF_ERROR(ReadCount(schema, place, "minLength", rules.min_length));
  RETURN_IF_ERROR(ReadCount(schema, place, "maxLength", rules.max_length));
  if (const JsonValue* pattern = schema.if_contains("pattern")) {
    if (!pattern->is_string()) {
      return Wrong(place, "pattern must be a text");
    }
    ASSIGN_OR_RETURN(rules.pattern, ReadPattern(place, View(*pattern)));
  }
  if (const JsonValue* format = schema.if_contains("format"); format != nullptr) {
    if (!format->is_string()) {
      return Wrong(place, "format must be a text");
    }
    rules.format = options.formats ? FormatOf(View(*format)) : Format::kAny;
  }
  return absl::OkStatus();
}

// A list of different texts.
absl::StatusOr<std::vector<std::string>> TextsOf(const JsonValue& list, const SchemaPlace& place,
                                                 std::string_view key) {
  std::vector<std::string> texts;
  if (!list.is_array()) {
    return Wrong(place, absl::StrFormat("%s must be a list of names", key));
  }
  for (const JsonValue& text : list.get_array()) {
    if (!text.is_string()) {
      return Wrong(place, absl::StrFormat("%s must be a list of names", key));
    }
    texts.emplace_back(View(text));
  }
  return texts;
}

absl::Status ReadDependentRequired(const JsonObject& schema, const SchemaPlace& place,
                                   const SchemaOptions& options, ObjectRules& rules) {
  if (options.dialect == SchemaDialect::kOpenApi30) {
    return absl::OkStatus();
  }
  const bool is_draft4 = options.dialect == SchemaDialect::kDraft4;
  const std::string_view key = is_draft4 ? "dependencies" : "dependentRequired";
  ASSIGN_OR_RETURN(const JsonObject* map, ObjectMember(schema, place, key));
  if (map == nullptr) {
    return absl::OkStatus();
  }
  for (const auto& member : *map) {
    // In draft 4 schemas stand there too; the compiler reads those.
    if (!is_draft4 || member.value().is_array()) {
      ASSIGN_OR_RETURN(std::vector<std::string> names, TextsOf(member.value(), place, key));
      rules.dependent_required.emplace_back(member.key(), std::move(names));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Wrong(const SchemaPlace& place, std::string_view what) {
  return absl::InvalidArgumentError(absl::StrFormat("%s: %s", place.pointer, what));
}

absl::StatusOr<const JsonObject*> ObjectMember(const JsonObject& schema, const SchemaPlace& place,
                                               std::string_view key) {
  const JsonValue* value = schema.if_contains(key);
  if (value == nullptr) {
    return nullptr;
  }
  if (!value->is_object()) {
    return Wrong(place, absl::StrFormat("%s must be an object", key));
  }
  return &value->get_object();
}

absl::StatusOr<Pattern> ReadPattern(const SchemaPlace& place, std::string_view text) {
  auto pattern = Pattern::Compile(text);
  if (!pattern.ok()) {
    const auto why = pattern.status().message();
    return Wrong(place, std::string_view(why.data(), why.size()));
  }
  return pattern;
}

absl::Status ReadScalars(const JsonObject& schema, const SchemaPlace& place,
                         const SchemaOptions& options, SchemaNode& node) {
  RETURN_IF_ERROR(ReadTypes(schema, place, node));
  if (options.dialect == SchemaDialect::kOpenApi30) {
    RETURN_IF_ERROR(ReadFlag(schema, place, "nullable", node.nullable));
    // Without a type null is a value like any other.
    node.nullable = node.nullable && schema.contains("type");
  }
  if (const JsonValue* allowed = schema.if_contains("enum")) {
    if (!allowed->is_array()) {
      return Wrong(place, "enum must be a list");
    }
    node.allowed.emplace(allowed->get_array().begin(), allowed->get_array().end());
  }
  if (const JsonValue* constant = schema.if_contains("const");
      constant != nullptr && options.dialect == SchemaDialect::k202012) {
    node.constant = *constant;
  }
  RETURN_IF_ERROR(ReadNumbers(schema, place, options, node.scalar));
  return ReadTexts(schema, place, options, node.scalar);
}

absl::StatusOr<bool> ReadArrayCounts(const JsonObject& schema, const SchemaPlace& place,
                                     const SchemaOptions& options, ArrayRules& rules) {
  RETURN_IF_ERROR(ReadCount(schema, place, "minItems", rules.min_items));
  RETURN_IF_ERROR(ReadCount(schema, place, "maxItems", rules.max_items));
  RETURN_IF_ERROR(ReadFlag(schema, place, "uniqueItems", rules.unique));
  if (options.dialect == SchemaDialect::k202012) {
    std::optional<std::size_t> min_contains;
    RETURN_IF_ERROR(ReadCount(schema, place, "minContains", min_contains));
    RETURN_IF_ERROR(ReadCount(schema, place, "maxContains", rules.max_contains));
    rules.min_contains = min_contains.value_or(1);
  }
  return rules.min_items || rules.max_items || rules.unique;
}

absl::StatusOr<bool> ReadObjectCounts(const JsonObject& schema, const SchemaPlace& place,
                                      const SchemaOptions& options, ObjectRules& rules) {
  RETURN_IF_ERROR(ReadCount(schema, place, "minProperties", rules.min_properties));
  RETURN_IF_ERROR(ReadCount(schema, place, "maxProperties", rules.max_properties));
  if (const JsonValue* required = schema.if_contains("required")) {
    ASSIGN_OR_RETURN(rules.required, TextsOf(*required, place, "required"));
  }
  RETURN_IF_ERROR(ReadDependentRequired(schema, place, options, rules));
  return rules.min_properties || rules.max_properties || !rules.required.empty() ||
         !rules.dependent_required.empty();
}

}  // namespace api
