#include "api/spec_schema/yaml.h"

#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/strings/str_format.h>
#include <yaml-cpp/yaml.h>

#include "engine/base/guard.h"
#include "engine/base/status_macros.h"

namespace api {
namespace {

absl::Status At(const YAML::Node& node, std::string_view what) {
  return absl::InvalidArgumentError(absl::StrFormat("line %d: %s", node.Mark().line + 1, what));
}

struct Word {
  std::string_view text;
  JsonValue value;
};

// Digits only, with what a JSON number may have beside them, and at least one digit.
bool LooksLikeNumber(std::string_view text) {
  return text.find_first_not_of("+-.eE0123456789") == std::string_view::npos &&
         text.find_first_of("0123456789") != std::string_view::npos;
}

JsonValue PlainScalar(const std::string& text) {
  static const std::vector<Word> words = {
      {"", nullptr},     {"~", nullptr},   {"null", nullptr}, {"Null", nullptr},
      {"NULL", nullptr}, {"true", true},   {"True", true},    {"TRUE", true},
      {"false", false},  {"False", false}, {"FALSE", false},
  };
  for (const Word& word : words) {
    if (word.text == text) {
      return word.value;
    }
  }
  if (LooksLikeNumber(text)) {
    const std::string unsigned_text = text.front() == '+' ? text.substr(1) : text;
    JsonParse parsed = ParseJson(unsigned_text);
    if (parsed.ok() && parsed.value->is_number()) {
      return *std::move(parsed.value);
    }
    // YAML also writes `.5`, `1.` and integers of any length.
    char* end = nullptr;
    const double number = std::strtod(text.c_str(), &end);
    if (*end == '\0' && number - number == 0) {
      return number;
    }
  }
  return boost::json::string(text);
}

class Converter {
 public:
  absl::StatusOr<JsonValue> Convert(const YAML::Node& node, std::size_t depth) {
    if (!GUARD("yaml.values", ++values_ <= kMaxYamlValues)) {
      return At(node, absl::StrFormat("more than %d values", kMaxYamlValues));
    }
    if (!GUARD("yaml.depth", depth <= kMaxJsonDepth)) {
      return At(node, absl::StrFormat("nested deeper than %d levels", kMaxJsonDepth));
    }
    switch (node.Type()) {
      case YAML::NodeType::Map:
        return Map(node, depth);
      case YAML::NodeType::Sequence:
        return Sequence(node, depth);
      case YAML::NodeType::Scalar: {
        // Quoted scalars and blocks have the tag `!`.
        const bool is_plain = node.Tag() == "?" || node.Tag().empty();
        return is_plain ? PlainScalar(node.Scalar())
                        : JsonValue(boost::json::string(node.Scalar()));
      }
      case YAML::NodeType::Null:
      case YAML::NodeType::Undefined:
        break;
    }
    return JsonValue(nullptr);
  }

 private:
  absl::StatusOr<JsonValue> Map(const YAML::Node& node, std::size_t depth) {
    JsonObject object;
    for (const auto& member : node) {
      if (!member.first.IsScalar()) {
        return At(member.first, "expected a key");
      }
      const std::string& key = member.first.Scalar();
      if (key == "<<") {
        return At(member.first, "merge keys are not read: write the members out");
      }
      ASSIGN_OR_RETURN(JsonValue value, Convert(member.second, depth + 1));
      if (!object.emplace(key, std::move(value)).second) {
        return At(member.first, absl::StrFormat("%s is there twice", key));
      }
    }
    return JsonValue(std::move(object));
  }

  absl::StatusOr<JsonValue> Sequence(const YAML::Node& node, std::size_t depth) {
    JsonArray array;
    for (const YAML::Node& element : node) {
      ASSIGN_OR_RETURN(JsonValue value, Convert(element, depth + 1));
      array.push_back(std::move(value));
    }
    return JsonValue(std::move(array));
  }

  std::size_t values_ = 0;
};

}  // namespace

absl::StatusOr<JsonValue> JsonOfYaml(const std::string& text) {
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() > 1) {
      return At(documents[1], "there is more than one document");
    }
    return Converter().Convert(documents.empty() ? YAML::Node() : documents.front(), 1);
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(
        absl::StrFormat("line %d: %s", error.mark.line + 1, error.msg));
  }
}

}  // namespace api
