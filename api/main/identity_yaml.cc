#include "api/main/identity_yaml.h"

#include <map>
#include <string>
#include <string_view>

#include <absl/strings/str_format.h>

#include "api/main/yaml_reader.h"
#include "engine/base/status_macros.h"

namespace api {
namespace {

absl::StatusOr<IssuerOptions> ReadIssuer(const YAML::Node& node) {
  IssuerOptions issuer;
  const std::map<std::string_view, std::string*> texts = {
      {"issuer_url", &issuer.issuer_url},
      {"jwk_cert_url", &issuer.jwk_cert_url},
      {"jwk_cert_file", &issuer.jwk_cert_file},
      {"jwk_cert_ca_file", &issuer.jwk_cert_ca_file},
      {"header", &issuer.header},
      {"audience", &issuer.audience},
      {"identity_claim", &issuer.identity_claim},
      {"identity_claim_pattern", &issuer.identity_claim_pattern},
      {"identity_header", &issuer.identity_header}};
  ASSIGN_OR_RETURN(const auto members, YamlMembers(node));
  for (const auto& [key, value] : members) {
    const auto text = texts.find(key);
    if (text == texts.end()) {
      return AtLine(value, absl::StrFormat("unknown key server.jwt.configs[].%s", key));
    }
    ASSIGN_OR_RETURN(std::string said, YamlText(value));
    // Said to be empty is as not said, where there is a default.
    if (!said.empty()) {
      *text->second = std::move(said);
    }
  }
  return issuer;
}

absl::StatusOr<TenantDimension> ReadDimension(const YAML::Node& node) {
  TenantDimension dimension;
  ASSIGN_OR_RETURN(const auto members, YamlMembers(node));
  for (const auto& [key, value] : members) {
    if (key == "header") {
      ASSIGN_OR_RETURN(dimension.header, YamlText(value));
    } else if (key == "key") {
      ASSIGN_OR_RETURN(dimension.key, YamlText(value));
    } else if (key == "required") {
      ASSIGN_OR_RETURN(dimension.required, YamlBool(value, "required"));
    } else {
      return AtLine(value, absl::StrFormat("unknown key server.tenant.dimensions[].%s", key));
    }
  }
  return dimension;
}

// Nothing is an empty list.
template <typename Item>
absl::StatusOr<std::vector<Item>> ReadList(const YAML::Node& node,
                                           absl::StatusOr<Item> (*read)(const YAML::Node&)) {
  std::vector<Item> items;
  if (node.IsNull()) {
    return items;
  }
  if (!node.IsSequence()) {
    return AtLine(node, "expected a list");
  }
  for (const YAML::Node& one : node) {
    ASSIGN_OR_RETURN(items.emplace_back(), read(one));
  }
  return items;
}

}  // namespace

absl::StatusOr<std::vector<IssuerOptions>> ReadIssuers(const YAML::Node& node) {
  return ReadList(node, ReadIssuer);
}

absl::StatusOr<std::vector<TenantDimension>> ReadDimensions(const YAML::Node& node) {
  return ReadList(node, ReadDimension);
}

}  // namespace api
