// IdentityOptions: whose tokens are believed, and how tenants are told apart.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <string>
#include <vector>

#include <absl/status/status.h>

#include "api/identity/trusted_proxies.h"

namespace api {

// One issuer of tokens. Keys of `server.jwt.configs[]`.
struct IssuerOptions {
  std::string issuer_url;
  std::string jwk_cert_url;
  std::string jwk_cert_file;
  std::string jwk_cert_ca_file;
  std::string header = "Authorization";  // Where its tokens are: `Bearer TOKEN`.
  std::string audience;                  // Empty: any.
  std::string identity_claim = "email";
  std::string identity_claim_pattern;  // A regular expression; empty: any text.
  std::string identity_header;         // Says who acts, before the claim; empty: the claim only.
};

// A header that says one thing of whose a request is: `X-HyperFleet-Org: acme` is `org=acme`.
struct TenantDimension {
  std::string header;
  std::string key;
  bool required = false;
};

// Keys of `server.tenant`.
struct TenantOptions {
  bool enabled = false;
  std::string system_header;  // `true` in it: the system itself asks.
  std::vector<TenantDimension> dimensions;
};

struct IdentityOptions {
  bool jwt_enabled = false;
  std::vector<IssuerOptions> issuers;
  TenantOptions tenant;
  // Headers of identity and tenancy count from these only; empty: from everybody.
  TrustedProxies trusted_proxies;
};

// Each fails with kInvalidArgument, naming the key, when the options cannot hold.
absl::Status CheckIssuers(const std::vector<IssuerOptions>& issuers);
absl::Status CheckTenants(const TenantOptions& tenant);

// A header's name as HTTP has it (RFC 9110, 5.1).
bool IsHeaderName(std::string_view name);

}  // namespace api
