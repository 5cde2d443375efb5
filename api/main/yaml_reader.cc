#include "api/main/yaml_reader.h"

#include <set>

#include <absl/strings/str_format.h>

#include "engine/base/status_macros.h"

namespace api {

absl::Status AtLine(const YAML::Node& node, std::string_view what) {
  return absl::InvalidArgumentError(absl::StrFormat("line %d: %s", node.Mark().line + 1, what));
}

absl::StatusOr<std::vector<std::pair<std::string, YAML::Node>>> YamlMembers(const YAML::Node& map) {
  if (!map.IsMap()) {
    return AtLine(map, "expected a mapping");
  }
  std::vector<std::pair<std::string, YAML::Node>> members;
  std::set<std::string> seen;
  for (const auto& member : map) {
    if (!member.first.IsScalar()) {
      return AtLine(member.first, "expected a key");
    }
    if (!seen.insert(member.first.Scalar()).second) {
      return AtLine(member.first, absl::StrFormat("%s is there twice", member.first.Scalar()));
    }
    members.emplace_back(member.first.Scalar(), member.second);
  }
  return members;
}

absl::StatusOr<std::string> YamlText(const YAML::Node& node) {
  if (node.IsNull()) {
    return std::string();
  }
  if (!node.IsScalar()) {
    return AtLine(node, "expected a single value");
  }
  return node.Scalar();
}

absl::StatusOr<int> YamlNumber(const YAML::Node& node) {
  int number = 0;
  if (!node.IsScalar() || !YAML::convert<int>::decode(node, number)) {
    return AtLine(node, "expected a number");
  }
  return number;
}

absl::StatusOr<bool> YamlBool(const YAML::Node& node, std::string_view what) {
  bool value = false;
  if (!node.IsScalar() || !YAML::convert<bool>::decode(node, value)) {
    return AtLine(node, absl::StrFormat("%s must be true or false", what));
  }
  return value;
}

absl::StatusOr<std::vector<std::string>> YamlTexts(const YAML::Node& node) {
  std::vector<std::string> texts;
  if (!node.IsSequence()) {
    return AtLine(node, "expected a list");
  }
  for (const YAML::Node& item : node) {
    ASSIGN_OR_RETURN(texts.emplace_back(), YamlText(item));
  }
  return texts;
}

}  // namespace api
