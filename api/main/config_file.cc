#include <algorithm>
#include <exception>
#include <set>
#include <utility>

#include <absl/strings/str_format.h>
#include <yaml-cpp/yaml.h>

#include "api/main/settings.h"
#include "engine/base/status_macros.h"

namespace api {
namespace {

using projections::EntityDescriptor;

absl::Status At(const YAML::Node& node, std::string_view what) {
  return absl::InvalidArgumentError(absl::StrFormat("line %d: %s", node.Mark().line + 1, what));
}

bool IsKnownKey(std::string_view key) {
  return std::ranges::any_of(AllSettings(),
                             [key](const Setting& setting) { return setting.key == key; });
}

bool IsSection(std::string_view key) {
  const std::string prefix = std::string(key) + ".";
  return std::ranges::any_of(
      AllSettings(), [&prefix](const Setting& setting) { return setting.key.starts_with(prefix); });
}

// A list that belongs to a setting which is off.
bool IsIgnoredList(std::string_view key) {
  return key == "server.jwt.configs";
}

// The members of a map, in order; refuses a key that is there twice, which the parser lets pass.
absl::StatusOr<std::vector<std::pair<std::string, YAML::Node>>> MembersOf(const YAML::Node& map) {
  if (!map.IsMap()) {
    return At(map, "expected a mapping");
  }
  std::vector<std::pair<std::string, YAML::Node>> members;
  std::set<std::string> seen;
  for (const auto& member : map) {
    if (!member.first.IsScalar()) {
      return At(member.first, "expected a key");
    }
    if (!seen.insert(member.first.Scalar()).second) {
      return At(member.first, absl::StrFormat("%s is there twice", member.first.Scalar()));
    }
    members.emplace_back(member.first.Scalar(), member.second);
  }
  return members;
}

absl::StatusOr<std::string> TextOf(const YAML::Node& node) {
  if (node.IsNull()) {
    return std::string();
  }
  if (!node.IsScalar()) {
    return At(node, "expected a single value");
  }
  return node.Scalar();
}

absl::StatusOr<int> NumberOf(const YAML::Node& node) {
  int number = 0;
  if (!node.IsScalar() || !YAML::convert<int>::decode(node, number)) {
    return At(node, "expected a number");
  }
  return number;
}

absl::StatusOr<std::vector<std::string>> TextsOf(const YAML::Node& node) {
  std::vector<std::string> texts;
  if (!node.IsSequence()) {
    return At(node, "expected a list");
  }
  for (const YAML::Node& item : node) {
    ASSIGN_OR_RETURN(texts.emplace_back(), TextOf(item));
  }
  return texts;
}

absl::StatusOr<projections::OnParentDelete> PolicyOf(const YAML::Node& node) {
  ASSIGN_OR_RETURN(const std::string text, TextOf(node));
  if (text == "restrict") {
    return projections::OnParentDelete::kRestrict;
  }
  if (text == "cascade") {
    return projections::OnParentDelete::kCascade;
  }
  return At(node, "on_parent_delete must be restrict or cascade");
}

// One member of a descriptor.
absl::Status ReadMember(const std::string& key, const YAML::Node& node,
                        EntityDescriptor& descriptor) {
  const std::map<std::string_view, std::string*> texts = {
      {"kind", &descriptor.kind},
      {"plural", &descriptor.plural},
      {"parent_kind", &descriptor.parent_kind},
      {"spec_schema_name", &descriptor.spec_schema_name}};
  const std::map<std::string_view, int*> numbers = {{"name_min_len", &descriptor.name_min_len},
                                                    {"name_max_len", &descriptor.name_max_len}};
  if (const auto text = texts.find(key); text != texts.end()) {
    ASSIGN_OR_RETURN(*text->second, TextOf(node));
  } else if (const auto number = numbers.find(key); number != numbers.end()) {
    ASSIGN_OR_RETURN(*number->second, NumberOf(node));
  } else if (key == "on_parent_delete") {
    ASSIGN_OR_RETURN(descriptor.on_parent_delete, PolicyOf(node));
  } else if (key == "required_adapters") {
    ASSIGN_OR_RETURN(descriptor.required_adapters, TextsOf(node));
  } else if (key == "require_spec_schema") {
    if (!YAML::convert<bool>::decode(node, descriptor.require_spec_schema)) {
      return At(node, "require_spec_schema must be true or false");
    }
    if (descriptor.require_spec_schema) {
      return At(node, "require_spec_schema: no schema is configured, and none can be");
    }
  } else if (key == "references" || key == "conditions") {
    if (!node.IsNull() && node.size() > 0) {
      return At(node, absl::StrFormat("%s of kinds: this version cannot do that", key));
    }
  } else {
    return At(node, absl::StrFormat("unknown key entities[].%s", key));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<EntityDescriptor>> EntitiesOf(const YAML::Node& node) {
  if (!node.IsSequence()) {
    return At(node, "entities must be a list");
  }
  std::vector<EntityDescriptor> entities;
  for (const YAML::Node& item : node) {
    ASSIGN_OR_RETURN(const auto members, MembersOf(item));
    EntityDescriptor& descriptor = entities.emplace_back();
    for (const auto& [key, value] : members) {
      RETURN_IF_ERROR(ReadMember(key, value, descriptor));
    }
  }
  return entities;
}

// A list of texts of a setting that takes several, as its flag has it: `a,b`.
absl::StatusOr<std::string> ListOf(std::string_view key, const YAML::Node& node) {
  const auto setting = std::ranges::find(AllSettings(), key, &Setting::key);
  if (!setting->value.ends_with(",...")) {
    return At(node, "expected a single value");
  }
  std::string list;
  ASSIGN_OR_RETURN(const std::vector<std::string> texts, TextsOf(node));
  for (const std::string& text : texts) {
    list += (list.empty() ? "" : ",") + text;
  }
  return list;
}

absl::Status ReadSection(const std::string& prefix, const YAML::Node& section, ConfigFile& file) {
  ASSIGN_OR_RETURN(const auto members, MembersOf(section));
  for (const auto& [name, node] : members) {
    const std::string key = prefix.empty() ? name : absl::StrFormat("%s.%s", prefix, name);
    if (key == "entities") {
      ASSIGN_OR_RETURN(file.entities, EntitiesOf(node));
    } else if (IsKnownKey(key)) {
      ASSIGN_OR_RETURN(file.values[key], node.IsSequence() ? ListOf(key, node) : TextOf(node));
    } else if (IsSection(key)) {
      if (!node.IsNull()) {
        RETURN_IF_ERROR(ReadSection(key, node, file));
      }
    } else if (!IsIgnoredList(key)) {
      return At(node, absl::StrFormat("unknown key %s", key));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ConfigFile> ParseConfigFile(const std::string& text) {
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() > 1) {
      return At(documents[1], "there is more than one document");
    }
    const YAML::Node root = documents.empty() ? YAML::Node() : documents.front();
    ConfigFile file;
    if (!root.IsNull()) {
      RETURN_IF_ERROR(ReadSection("", root, file));
    }
    return file;
  } catch (const YAML::Exception& error) {
    return absl::InvalidArgumentError(
        absl::StrFormat("line %d: %s", error.mark.line + 1, error.msg));
  }
}

}  // namespace api
