// The kinds of resources in a configuration file: the list `entities`. docs/resources.md has its
// keys.
//
// Pure; never blocks.

#pragma once

#include <vector>

#include <absl/status/statusor.h>
#include <yaml-cpp/yaml.h>

#include "projections/registry.h"

namespace api {

// Fails with kInvalidArgument, naming the line and the key. Whether the kinds make a registry is
// left to Registry::Create.
absl::StatusOr<std::vector<projections::EntityDescriptor>> ReadEntities(const YAML::Node& node);

}  // namespace api
