#include "api/main/identity_config.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include <absl/strings/str_format.h>

#include "api/http/host_and_port.h"
#include "api/main/values.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"

namespace api {
namespace {

std::string Text(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

bool IsLoopback(std::string_view address) {
  const std::string host = SplitHostAndPort(address).value_or(HostAndPort{}).host;
  // Digits and dots only: `127.example.com` is a name, and names somebody else decides about.
  const bool is_v4 = host.find_first_not_of("0123456789.") == std::string::npos;
  return host == "localhost" || host == "::1" || (is_v4 && host.starts_with("127."));
}

absl::Status ReadTokens(const Settings& settings, ServeConfig& config) {
  IdentityOptions& identity = config.server.identity;
  identity.jwt_enabled = settings.has_file();
  const bool said = settings.Find("server-jwt-enabled").has_value();
  RETURN_IF_ERROR(ReadBool(settings, "server-jwt-enabled", identity.jwt_enabled));
  if (identity.jwt_enabled) {
    if (settings.has_file()) {
      identity.issuers = settings.file()->issuers;
    }
    const absl::Status checked = CheckIssuers(identity.issuers);
    if (!GUARD("serve.jwt", checked.ok())) {
      return absl::FailedPreconditionError(Text(checked));
    }
    for (const IssuerOptions& issuer : identity.issuers) {
      if (!issuer.jwk_cert_ca_file.empty()) {
        RETURN_IF_ERROR(ReadFile(issuer.jwk_cert_ca_file).status());
      }
    }
    return absl::OkStatus();
  }
  if (said) {
    return absl::OkStatus();
  }
  if (!GUARD("serve.loopback", IsLoopback(config.server.listen))) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "listening on %s without authentication has to be asked for: set server.jwt.enabled to "
        "false",
        config.server.listen));
  }
  config.warning =
      "resource routes are open to everybody on this machine: no authentication is configured";
  return absl::OkStatus();
}

absl::Status ReadTenants(const Settings& settings, ServeConfig& config) {
  TenantOptions& tenant = config.server.identity.tenant;
  RETURN_IF_ERROR(ReadBool(settings, "server-tenant-enabled", tenant.enabled));
  RETURN_IF_ERROR(ReadText(settings, "server-tenant-system-header", tenant.system_header));
  if (settings.has_file()) {
    tenant.dimensions = settings.file()->dimensions;
  }
  const absl::Status checked = CheckTenants(tenant);
  if (!GUARD("serve.tenant", checked.ok())) {
    return absl::FailedPreconditionError(Text(checked));
  }
  return absl::OkStatus();
}

// What strangers can say in headers, as long as it does not matter who sends them; empty: nothing.
std::string_view ToldByHeaders(const IdentityOptions& identity) {
  if (identity.tenant.enabled) {
    return "tenants are told by headers, and whoever reaches this listener can send them";
  }
  const bool names_actors =
      identity.jwt_enabled && std::ranges::any_of(identity.issuers, [](const IssuerOptions& one) {
        return !one.identity_header.empty();
      });
  return names_actors ? "who acts is told by a header, and whoever has a token can send it" : "";
}

absl::Status ReadProxies(const Settings& settings, ServeConfig& config) {
  const auto value = settings.Find("trusted-proxy-cidrs");
  if (value) {
    auto proxies = TrustedProxies::Parse(value->text);
    if (!proxies.ok()) {
      return BadValue(*value, Text(proxies.status()));
    }
    config.server.identity.trusted_proxies = *std::move(proxies);
    return absl::OkStatus();
  }
  const std::string_view told = ToldByHeaders(config.server.identity);
  if (!told.empty() && !IsLoopback(config.server.listen)) {
    config.warning =
        absl::StrFormat("%s: set --trusted-proxy-cidrs to the networks of the gateway", told);
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ReadIdentity(const Settings& settings, ServeConfig& config) {
  RETURN_IF_ERROR(ReadTokens(settings, config));
  RETURN_IF_ERROR(ReadTenants(settings, config));
  return ReadProxies(settings, config);
}

}  // namespace api
