// The lists of the configuration file that say whose tokens are believed and how tenants are told
// apart. Included by config_file.cc only.
//
// Pure functions; never block. Fail with kInvalidArgument, naming the line: not a list, a key that
// is unknown or there twice, a value of the wrong kind.

#pragma once

#include <vector>

#include <absl/status/statusor.h>
#include <yaml-cpp/yaml.h>

#include "api/identity/options.h"

namespace api {

// `server.jwt.configs`
absl::StatusOr<std::vector<IssuerOptions>> ReadIssuers(const YAML::Node& node);
// `server.tenant.dimensions`
absl::StatusOr<std::vector<TenantDimension>> ReadDimensions(const YAML::Node& node);

}  // namespace api
