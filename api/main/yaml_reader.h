// Readers of YAML nodes that say the line of what they refuse.
//
// Pure functions; never block. Fail with kInvalidArgument. Included by the readers of the
// configuration file only.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <yaml-cpp/yaml.h>

namespace api {

// `line 7: what`
absl::Status AtLine(const YAML::Node& node, std::string_view what);

// The members of a map, in order; refuses a key that is there twice, which the parser lets pass.
absl::StatusOr<std::vector<std::pair<std::string, YAML::Node>>> YamlMembers(const YAML::Node& map);

// A single value; null is the empty text.
absl::StatusOr<std::string> YamlText(const YAML::Node& node);
absl::StatusOr<int> YamlNumber(const YAML::Node& node);
// `what` is the key, for the message.
absl::StatusOr<bool> YamlBool(const YAML::Node& node, std::string_view what);
absl::StatusOr<std::vector<std::string>> YamlTexts(const YAML::Node& node);

}  // namespace api
