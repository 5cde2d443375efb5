#include "api/identity/options.h"

#include <algorithm>
#include <set>
#include <string_view>

#include <absl/strings/str_format.h>

#include "api/http/request.h"
#include "api/identity/fetch.h"
#include "engine/base/status_macros.h"

namespace api {
namespace {

constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";

bool IsOneOf(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::ranges::any_of(
      names, [name](std::string_view other) { return EqualsIgnoreCase(name, other); });
}

bool IsCookie(std::string_view name) {
  return IsOneOf(name, {"Cookie", "Set-Cookie"});
}

// Headers that carry credentials: what they hold must not become a name in records.
bool IsForCredentials(std::string_view name) {
  return IsCookie(name) || IsOneOf(name, {"Authorization", "X-Api-Key", "X-Auth-Token",
                                          "X-Forwarded-Authorization", "Proxy-Authorization"});
}

std::string Lower(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return lower;
}

absl::Status CheckKeys(const std::string& where, const IssuerOptions& issuer) {
  const auto refuse = [&where](std::string_view why) {
    return absl::InvalidArgumentError(absl::StrFormat("%s.%s", where, why));
  };
  if (issuer.jwk_cert_url.empty() && issuer.jwk_cert_file.empty()) {
    return refuse("jwk_cert_url or jwk_cert_file: one of them is required");
  }
  if (!issuer.jwk_cert_url.empty() && !IsSecureUrl(issuer.jwk_cert_url)) {
    return refuse("jwk_cert_url: must be https, or http on this machine");
  }
  if (!issuer.jwk_cert_ca_file.empty() && issuer.jwk_cert_url.empty()) {
    return refuse("jwk_cert_ca_file: means nothing without jwk_cert_url");
  }
  return absl::OkStatus();
}

absl::Status CheckIssuer(const std::string& where, const IssuerOptions& issuer) {
  const auto refuse = [&where](std::string_view why) {
    return absl::InvalidArgumentError(absl::StrFormat("%s.%s", where, why));
  };
  if (issuer.issuer_url.empty()) {
    return refuse("issuer_url: is required");
  }
  if (!IsSecureUrl(issuer.issuer_url)) {
    return refuse("issuer_url: must be https, or http on this machine");
  }
  RETURN_IF_ERROR(CheckKeys(where, issuer));
  if (!IsHeaderName(issuer.header) || IsCookie(issuer.header)) {
    return refuse("header: must name a header, and not one of cookies");
  }
  if (issuer.identity_claim.empty()) {
    return refuse("identity_claim: must not be empty");
  }
  if (issuer.identity_header.empty()) {
    return absl::OkStatus();
  }
  if (!IsHeaderName(issuer.identity_header) || IsForCredentials(issuer.identity_header)) {
    return refuse("identity_header: must name a header, and not one of credentials");
  }
  if (EqualsIgnoreCase(issuer.identity_header, issuer.header)) {
    return refuse("identity_header: must be another than header");
  }
  return absl::OkStatus();
}

absl::Status CheckDimension(const std::string& where, const TenantDimension& dimension,
                            std::set<std::string>& headers, std::set<std::string>& keys) {
  const auto refuse = [&where](std::string_view why) {
    return absl::InvalidArgumentError(absl::StrFormat("%s.%s", where, why));
  };
  if (!IsHeaderName(dimension.header) || IsForCredentials(dimension.header)) {
    return refuse("header: must name a header, and not one of credentials");
  }
  if (!headers.insert(Lower(dimension.header)).second) {
    return refuse("header: is that of another dimension or of the system");
  }
  if (dimension.key.empty() || dimension.key.size() > 63) {
    return refuse("key: must have 1 to 63 bytes");
  }
  if (!keys.insert(dimension.key).second) {
    return refuse("key: is that of another dimension");
  }
  return absl::OkStatus();
}

}  // namespace

bool IsHeaderName(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kMarks.find(c) != std::string_view::npos;
  });
}

absl::Status CheckIssuers(const std::vector<IssuerOptions>& issuers) {
  if (issuers.empty()) {
    return absl::InvalidArgumentError(
        "server.jwt.configs: tokens are to be checked, and no issuer is known; name one, or set "
        "server.jwt.enabled to false");
  }
  for (std::size_t i = 0; i < issuers.size(); ++i) {
    RETURN_IF_ERROR(CheckIssuer(absl::StrFormat("server.jwt.configs[%d]", i), issuers[i]));
  }
  return absl::OkStatus();
}

absl::Status CheckTenants(const TenantOptions& tenant) {
  if (!tenant.enabled) {
    return absl::OkStatus();
  }
  if (!IsHeaderName(tenant.system_header) || IsForCredentials(tenant.system_header)) {
    return absl::InvalidArgumentError(
        "server.tenant.system_header: must name a header, and not one of credentials");
  }
  std::set<std::string> headers = {Lower(tenant.system_header)};
  std::set<std::string> keys;
  for (std::size_t i = 0; i < tenant.dimensions.size(); ++i) {
    RETURN_IF_ERROR(CheckDimension(absl::StrFormat("server.tenant.dimensions[%d]", i),
                                   tenant.dimensions[i], headers, keys));
  }
  if (std::ranges::none_of(tenant.dimensions, &TenantDimension::required)) {
    return absl::InvalidArgumentError("server.tenant.dimensions: at least one has to be required");
  }
  return absl::OkStatus();
}

}  // namespace api
