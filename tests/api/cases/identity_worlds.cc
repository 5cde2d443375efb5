#include "tests/api/cases/identity_worlds.h"

#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/clock.h"

namespace cases {

const support::TokenKey& IssuerKey() {
  static const support::TokenKey key = support::TokenKey::Make("RS256", "key-1");
  return key;
}

api::IdentityOptions IdentityOf(Callers callers, const std::string& key_file) {
  api::IdentityOptions options;
  options.jwt_enabled = callers == Callers::kTokens;
  if (options.jwt_enabled) {
    api::IssuerOptions issuer;
    issuer.issuer_url = kIssuer;
    issuer.jwk_cert_file = key_file;
    issuer.identity_header = kIdentityHeader;
    options.issuers.push_back(std::move(issuer));
  }
  options.tenant.enabled = callers == Callers::kTenants;
  options.tenant.system_header = kSystemHeader;
  options.tenant.dimensions = {{std::string(kOrgHeader), "org", true},
                               {std::string(kProjectHeader), "project", false}};
  return options;
}

std::string IdentityYaml(Callers callers, const std::string& key_file) {
  if (callers == Callers::kTokens) {
    return absl::StrFormat(
        "server: {jwt: {configs: [{issuer_url: '%s', jwk_cert_file: '%s', identity_header: "
        "%s}]}}\n",
        kIssuer, key_file, kIdentityHeader);
  }
  return absl::StrFormat(
      "server: {jwt: {enabled: false}, tenant: {enabled: true, system_header: %s, dimensions: "
      "[{header: %s, key: org, required: true}, {header: %s, key: project}]}}\n",
      kSystemHeader, kOrgHeader, kProjectHeader);
}

Headers BearerOf(const std::string& email, std::int64_t seconds, const support::TokenKey& key) {
  const std::int64_t now = engine::SystemClock().Now().micros / 1'000'000;
  const std::string claims =
      absl::StrFormat(R"({"iss":"%s","exp":%d,"email":"%s"})", kIssuer, now + seconds, email);
  return {{"Authorization", "Bearer " + key.Token(claims)}};
}

}  // namespace cases
