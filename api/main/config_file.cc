#include <algorithm>
#include <exception>
#include <utility>

#include <absl/strings/str_format.h>
#include <yaml-cpp/yaml.h>

#include "api/main/entities.h"
#include "api/main/identity_yaml.h"
#include "api/main/settings.h"
#include "api/main/yaml_reader.h"
#include "engine/base/status_macros.h"

namespace api {
namespace {

bool IsKnownKey(std::string_view key) {
  return std::ranges::any_of(AllSettings(),
                             [key](const Setting& setting) { return setting.key == key; });
}

bool IsSection(std::string_view key) {
  const std::string prefix = std::string(key) + ".";
  return std::ranges::any_of(
      AllSettings(), [&prefix](const Setting& setting) { return setting.key.starts_with(prefix); });
}

// A list of texts of a setting that takes several, as its flag has it: `a,b`.
absl::StatusOr<std::string> ListOf(std::string_view key, const YAML::Node& node) {
  const auto setting = std::ranges::find(AllSettings(), key, &Setting::key);
  if (!setting->value.ends_with(",...")) {
    return AtLine(node, "expected a single value");
  }
  std::string list;
  ASSIGN_OR_RETURN(const std::vector<std::string> texts, YamlTexts(node));
  for (const std::string& text : texts) {
    list += (list.empty() ? "" : ",") + text;
  }
  return list;
}

absl::Status ReadSection(const std::string& prefix, const YAML::Node& section, ConfigFile& file) {
  ASSIGN_OR_RETURN(const auto members, YamlMembers(section));
  for (const auto& [name, node] : members) {
    const std::string key = prefix.empty() ? name : absl::StrFormat("%s.%s", prefix, name);
    if (key == "entities") {
      ASSIGN_OR_RETURN(file.entities, ReadEntities(node));
    } else if (key == "server.jwt.configs") {
      ASSIGN_OR_RETURN(file.issuers, ReadIssuers(node));
    } else if (key == "server.tenant.dimensions") {
      ASSIGN_OR_RETURN(file.dimensions, ReadDimensions(node));
    } else if (IsKnownKey(key)) {
      ASSIGN_OR_RETURN(file.values[key], node.IsSequence() ? ListOf(key, node) : YamlText(node));
    } else if (IsSection(key)) {
      if (!node.IsNull()) {
        RETURN_IF_ERROR(ReadSection(key, node, file));
      }
    } else {
      return AtLine(node, absl::StrFormat("unknown key %s", key));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ConfigFile> ParseConfigFile(const std::string& text) {
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() > 1) {
      return AtLine(documents[1], "there is more than one document");
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
