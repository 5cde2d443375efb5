#include "tests/support/json_schema.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <map>
#include <optional>

#include <regex.h>

#include "api/json/canonical.h"

namespace support {
namespace {

using api::JsonArray;
using api::JsonObject;
using api::JsonValue;

std::string Text(const boost::json::string& text) {
  return {text.data(), text.size()};
}

// Compiled for one use: documents are small.
class Pattern {
 public:
  explicit Pattern(const std::string& text)
      : is_good_(regcomp(&regex_, text.c_str(), REG_EXTENDED | REG_NOSUB) == 0) {}
  ~Pattern() {
    if (is_good_) {
      regfree(&regex_);
    }
  }
  Pattern(const Pattern&) = delete;
  Pattern& operator=(const Pattern&) = delete;

  bool is_good() const { return is_good_; }
  bool Matches(const std::string& text) const {
    return is_good_ && regexec(&regex_, text.c_str(), 0, nullptr, 0) == 0;
  }

 private:
  regex_t regex_{};
  bool is_good_;
};

std::size_t Characters(const std::string& utf8) {
  return static_cast<std::size_t>(std::ranges::count_if(
      utf8, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::optional<double> Number(const JsonValue& value) {
  if (value.is_int64()) {
    return static_cast<double>(value.get_int64());
  }
  if (value.is_uint64()) {
    return static_cast<double>(value.get_uint64());
  }
  return value.is_double() ? std::optional(value.get_double()) : std::nullopt;
}

// What a value that is no object or array may be.
const std::map<std::string, std::string>& Formats() {
  static const std::map<std::string, std::string> kFormats = {
      {"date-time", "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,9})?Z$"},
      {"uuid", "^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$"},
      {"uri", "^https?://[^ ]+$"},
      {"int32", ""}};
  return kFormats;
}

bool IsOfType(const JsonValue& value, std::string_view type) {
  return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
         (type == "string" && value.is_string()) || (type == "boolean" && value.is_bool()) ||
         (type == "integer" && (value.is_int64() || value.is_uint64())) ||
         (type == "number" && Number(value).has_value());
}

// One walk over a value and its schema.
class Walk {
 public:
  explicit Walk(const JsonSchema& schemas) : schemas_(schemas) {}

  void Visit(const JsonValue& unresolved, const JsonValue& value, const std::string& at) {
    const JsonValue* resolved = schemas_.Resolve(unresolved);
    if (resolved == nullptr || !resolved->is_object()) {
      return Wrong(at, "its schema leads nowhere");
    }
    const JsonObject& schema = resolved->get_object();
    for (const auto& [keyword, argument] : schema) {
      const auto known = Keywords().find(std::string(keyword));
      if (known == Keywords().end()) {
        Wrong(at, "the keyword " + std::string(keyword) + " is not known here");
      } else if (known->second != nullptr && !(this->*known->second)(argument, value, at)) {
        Wrong(at, std::string(keyword) + " " + api::CanonicalJson(argument) +
                      " does not hold for " + api::CanonicalJson(value));
      }
    }
    if (value.is_object()) {
      VisitMembers(schema, value.get_object(), at);
    }
  }

  std::vector<std::string> TakeWrongs() { return std::move(wrongs_); }

 private:
  using Keyword = bool (Walk::*)(const JsonValue& argument, const JsonValue& value,
                                 const std::string& at);

  static const std::map<std::string, Keyword>& Keywords() {
    static const std::map<std::string, Keyword> kKeywords = {
        {"type", &Walk::Type},
        {"enum", &Walk::Enum},
        {"pattern", &Walk::MatchesPattern},
        {"format", &Walk::Format},
        {"minLength", &Walk::MinLength},
        {"maxLength", &Walk::MaxLength},
        {"minimum", &Walk::Minimum},
        {"maximum", &Walk::Maximum},
        {"minProperties", &Walk::MinProperties},
        {"maxProperties", &Walk::MaxProperties},
        {"required", &Walk::Required},
        {"items", &Walk::Items},
        {"anyOf", &Walk::AnyOf},
        {"properties", nullptr},
        {"additionalProperties", nullptr},
        {"description", nullptr},
        {"default", nullptr}};
    return kKeywords;
  }

  void Wrong(const std::string& at, const std::string& what) {
    wrongs_.push_back((at.empty() ? "/" : at) + ": " + what);
  }

  bool Type(const JsonValue& argument, const JsonValue& value, const std::string&) {
    return IsOfType(value, Text(argument.as_string()));
  }
  bool Enum(const JsonValue& argument, const JsonValue& value, const std::string&) {
    return std::ranges::any_of(argument.as_array(), [&value](const JsonValue& choice) {
      return api::JsonEquals(choice, value);
    });
  }
  bool MatchesPattern(const JsonValue& argument, const JsonValue& value, const std::string&) {
    return !value.is_string() || Matches(Text(argument.as_string()), Text(value.get_string()));
  }
  bool Format(const JsonValue& argument, const JsonValue& value, const std::string&) {
    const auto format = Formats().find(Text(argument.as_string()));
    if (format == Formats().end()) {
      return false;
    }
    if (format->first == "int32") {
      const auto number = Number(value);
      return number && *number >= std::numeric_limits<std::int32_t>::min() &&
             *number <= std::numeric_limits<std::int32_t>::max();
    }
    return value.is_string() && Matches(format->second, Text(value.get_string()));
  }
  bool MinLength(const JsonValue& argument, const JsonValue& value, const std::string&) {
    return !value.is_string() ||
           static_cast<double>(Characters(Text(value.get_string()))) >= *Number(argument);
  }
  bool MaxLength(const JsonValue& argument, const JsonValue& value, const std::string&) {
    return !value.is_string() ||
           static_cast<double>(Characters(Text(value.get_string()))) <= *Number(argument);
  }
  bool Minimum(const JsonValue& argument, const JsonValue& value, const std::string&) {
    return !Number(value) || *Number(value) >= *Number(argument);
  }
  bool Maximum(const JsonValue& argument, const JsonValue& value, const std::string&) {
    return !Number(value) || *Number(value) <= *Number(argument);
  }
  bool MinProperties(const JsonValue& argument, const JsonValue& value, const std::string&) {
    return !value.is_object() ||
           static_cast<double>(value.get_object().size()) >= *Number(argument);
  }
  bool MaxProperties(const JsonValue& argument, const JsonValue& value, const std::string&) {
    return !value.is_object() ||
           static_cast<double>(value.get_object().size()) <= *Number(argument);
  }
  bool Required(const JsonValue& argument, const JsonValue& value, const std::string&) {
    return !value.is_object() ||
           std::ranges::all_of(argument.as_array(), [&value](const JsonValue& name) {
             return value.get_object().contains(name.as_string());
           });
  }
  bool Items(const JsonValue& argument, const JsonValue& value, const std::string& at) {
    if (value.is_array()) {
      for (std::size_t i = 0; i < value.get_array().size(); ++i) {
        Visit(argument, value.get_array()[i], at + "/" + std::to_string(i));
      }
    }
    return true;
  }

  // What is wrong is told of the first choice.
  bool AnyOf(const JsonValue& argument, const JsonValue& value, const std::string& at) {
    std::vector<std::string> first;
    for (const JsonValue& choice : argument.as_array()) {
      Walk walk(schemas_);
      walk.Visit(choice, value, at);
      std::vector<std::string> wrongs = walk.TakeWrongs();
      if (wrongs.empty()) {
        return true;
      }
      if (first.empty()) {
        first = std::move(wrongs);
      }
    }
    wrongs_.insert(wrongs_.end(), first.begin(), first.end());
    return true;
  }

  void VisitMembers(const JsonObject& schema, const JsonObject& members, const std::string& at) {
    const JsonValue* properties = schema.if_contains("properties");
    const JsonValue* others = schema.if_contains("additionalProperties");
    const bool is_open =
        others != nullptr ? !others->is_bool() || others->get_bool() : properties == nullptr;
    for (const auto& [name, member] : members) {
      const std::string place = at + "/" + std::string(name);
      const JsonValue* property =
          properties == nullptr ? nullptr : properties->as_object().if_contains(name);
      if (property != nullptr) {
        Visit(*property, member, place);
      } else if (!is_open) {
        Wrong(place, "is not documented");
      } else if (others != nullptr && others->is_object()) {
        Visit(*others, member, place);
      }
    }
  }

  const JsonSchema& schemas_;
  std::vector<std::string> wrongs_;
};

// One walk over a schema alone.
class SchemaWalk {
 public:
  explicit SchemaWalk(const JsonSchema& schemas) : schemas_(schemas) {}

  void Visit(const JsonValue& value, const std::string& at) {
    const JsonObject* schema = value.if_object();
    if (schema == nullptr) {
      return Wrong(at, "is no object");
    }
    if (schema->contains("$ref")) {
      if (schema->size() != 1 || schemas_.Resolve(value) == nullptr) {
        Wrong(at, "$ref leads nowhere or is not alone");
      }
      return;
    }
    for (const auto& [keyword, argument] : *schema) {
      if (!IsGood(keyword, argument)) {
        Wrong(at, std::string(keyword) + " is unknown or has a bad argument");
      }
    }
    CheckTogether(*schema, at);
    VisitParts(*schema, at);
  }

  std::vector<std::string> TakeWrongs() { return std::move(wrongs_); }

 private:
  void Wrong(const std::string& at, const std::string& what) {
    wrongs_.push_back((at.empty() ? "/" : at) + ": " + what);
  }

  static bool IsGood(std::string_view keyword, const JsonValue& argument) {
    constexpr std::array kCounts = {"minLength", "maxLength", "minProperties", "maxProperties"};
    constexpr std::array kTypes = {"object", "array", "string", "boolean", "integer", "number"};
    if (keyword == "type") {
      return argument.is_string() &&
             std::ranges::find(kTypes, Text(argument.get_string())) != kTypes.end();
    }
    if (keyword == "description") {
      return argument.is_string() && !argument.get_string().empty();
    }
    if (keyword == "pattern") {
      return argument.is_string() && IsPattern(Text(argument.get_string()));
    }
    if (keyword == "format") {
      return argument.is_string() && Formats().contains(Text(argument.get_string()));
    }
    if (keyword == "enum" || keyword == "required" || keyword == "anyOf") {
      return argument.is_array() && !argument.get_array().empty();
    }
    if (keyword == "minimum" || keyword == "maximum") {
      return Number(argument).has_value();
    }
    if (keyword == "items" || keyword == "properties") {
      return argument.is_object();
    }
    if (keyword == "additionalProperties") {
      return argument.is_object() || argument.is_bool();
    }
    return keyword == "default" ||
           (std::ranges::find(kCounts, keyword) != kCounts.end() && argument.is_int64() &&
            argument.get_int64() >= 0) ||
           (std::ranges::find(kCounts, keyword) != kCounts.end() && argument.is_uint64());
  }

  void CheckTogether(const JsonObject& schema, const std::string& at) {
    const JsonValue* type = schema.if_contains("type");
    if (type == nullptr) {
      if (!schema.contains("anyOf")) {
        Wrong(at, "has no type");
      }
      return;
    }
    if (Text(type->as_string()) == "array" && !schema.contains("items")) {
      Wrong(at, "is an array of nothing");
    }
    for (const auto& [low, high] :
         {std::pair{"minLength", "maxLength"}, std::pair{"minimum", "maximum"},
          std::pair{"minProperties", "maxProperties"}}) {
      const JsonValue* least = schema.if_contains(low);
      const JsonValue* most = schema.if_contains(high);
      if (least != nullptr && most != nullptr && *Number(*least) > *Number(*most)) {
        Wrong(at, std::string(low) + " is over " + high);
      }
    }
    if (const JsonValue* required = schema.if_contains("required")) {
      for (const JsonValue& name : required->as_array()) {
        const JsonValue* properties = schema.if_contains("properties");
        if (properties == nullptr || !properties->as_object().contains(name.as_string())) {
          Wrong(at, "requires " + Text(name.as_string()) + ", which it does not describe");
        }
      }
    }
  }

  void VisitParts(const JsonObject& schema, const std::string& at) {
    if (const JsonValue* items = schema.if_contains("items")) {
      Visit(*items, at + "/items");
    }
    if (const JsonValue* choices = schema.if_contains("anyOf")) {
      for (const JsonValue& choice : choices->as_array()) {
        Visit(choice, at + "/anyOf");
      }
    }
    if (const JsonValue* others = schema.if_contains("additionalProperties");
        others != nullptr && others->is_object()) {
      Visit(*others, at + "/additionalProperties");
    }
    if (const JsonValue* properties = schema.if_contains("properties")) {
      for (const auto& [name, property] : properties->as_object()) {
        Visit(property, at + "/" + std::string(name));
      }
    }
  }

  const JsonSchema& schemas_;
  std::vector<std::string> wrongs_;
};

}  // namespace

bool IsPattern(const std::string& pattern) {
  return Pattern(pattern).is_good();
}

bool Matches(const std::string& pattern, const std::string& text) {
  return Pattern(pattern).Matches(text);
}

std::vector<std::string> JsonSchema::Check(const JsonValue& schema, const JsonValue& value) const {
  Walk walk(*this);
  walk.Visit(schema, value, "");
  return walk.TakeWrongs();
}

std::vector<std::string> JsonSchema::CheckSchema(const JsonValue& schema) const {
  SchemaWalk walk(*this);
  walk.Visit(schema, "");
  return walk.TakeWrongs();
}

const JsonValue* JsonSchema::Find(std::string_view ref) const {
  if (!ref.starts_with("#/")) {
    return nullptr;
  }
  ref.remove_prefix(1);
  const JsonValue* at = &document_;
  while (at != nullptr && !ref.empty()) {
    ref.remove_prefix(1);
    const std::string_view step = ref.substr(0, ref.find('/'));
    ref.remove_prefix(step.size());
    at = at->is_object() ? at->get_object().if_contains(step) : nullptr;
  }
  return at;
}

const JsonValue* JsonSchema::Resolve(const JsonValue& value) const {
  const JsonObject* object = value.if_object();
  const JsonValue* ref = object == nullptr ? nullptr : object->if_contains("$ref");
  if (ref == nullptr) {
    return &value;
  }
  return ref->is_string() ? Find(Text(ref->get_string())) : nullptr;
}

}  // namespace support
