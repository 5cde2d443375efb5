#include "api/identity/tenant_headers.h"

#include <algorithm>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"

namespace api {
namespace {

constexpr std::size_t kMaxValueBytes = 63;

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
    text.remove_suffix(1);
  }
  return text;
}

bool IsValue(std::string_view text) {
  return text.size() <= kMaxValueBytes && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  c == '.' || c == '_' || c == '-';
         });
}

std::string Doubled(std::string_view header) {
  return absl::StrFormat("the header %s is there more than once", header);
}

}  // namespace

std::optional<std::string_view> SingleHeader(const Request& request, std::string_view name) {
  std::optional<std::string_view> found;
  for (const HeaderField& field : request.headers()) {
    if (!EqualsIgnoreCase(field.name, name)) {
      continue;
    }
    if (found.has_value()) {
      return std::nullopt;
    }
    found = Trim(field.value);
  }
  return found.value_or(std::string_view());
}

bool NamesTenant(const Request& request, const TenantOptions& options) {
  const auto names = [&options](const HeaderField& field) {
    return EqualsIgnoreCase(field.name, options.system_header) ||
           std::ranges::any_of(options.dimensions, [&field](const TenantDimension& dimension) {
             return EqualsIgnoreCase(field.name, dimension.header);
           });
  };
  return std::ranges::any_of(request.headers(), names);
}

std::variant<RequestTenant, std::string> ResolveTenant(const Request& request,
                                                       const TenantOptions& options,
                                                       const TrustedProxies& trusted) {
  if (!options.enabled) {
    return RequestTenant{};
  }
  if (!trusted.Trust(request.remote_address())) {
    return "tenants are told by the gateway, and this request did not come through it";
  }
  const auto system = SingleHeader(request, options.system_header);
  if (!GUARD("tenant.single-header", system.has_value())) {
    return Doubled(options.system_header);
  }
  if (system && EqualsIgnoreCase(*system, "true")) {
    return RequestTenant{projections::TenantScope::All(), true};
  }
  projections::Tenancy dims;
  for (const TenantDimension& dimension : options.dimensions) {
    const auto value = SingleHeader(request, dimension.header);
    if (!value) {
      return Doubled(dimension.header);
    }
    if (!GUARD("tenant.value", IsValue(*value))) {
      return absl::StrFormat("the header %s must have 1 to %d letters, digits, '.', '_' and '-'",
                             dimension.header, kMaxValueBytes);
    }
    if (!value->empty()) {
      dims.emplace(dimension.key, *value);
    } else if (!GUARD("tenant.required", !dimension.required)) {
      return absl::StrFormat("the header %s is required", dimension.header);
    }
  }
  if (dims.empty()) {
    return "no header says whose this request is";
  }
  return RequestTenant{projections::TenantScope::Of(std::move(dims)), false};
}

}  // namespace api
