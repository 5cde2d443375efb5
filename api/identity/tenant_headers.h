// Whose a request is, as its headers say (docs/tenancy.md).
//
// Pure functions; thread-safe, never block.

#pragma once

#include <string>
#include <variant>

#include "api/http/request.h"
#include "api/identity/options.h"
#include "projections/resources/tenant_scope.h"

namespace api {

struct RequestTenant {
  projections::TenantScope scope = projections::TenantScope::All();
  bool is_system = false;
};

// Or why it is nobody's: a sentence for a 403. Without enforcement everything is everybody's.
// Headers count from `trusted` proxies only.
std::variant<RequestTenant, std::string> ResolveTenant(const Request& request,
                                                       const TenantOptions& options,
                                                       const TrustedProxies& trusted);

// Whether a header is there that could say it, whatever it says.
bool NamesTenant(const Request& request, const TenantOptions& options);

// The value of a header that must not be there twice, without blanks around it. Empty text: it is
// not there or blank. Empty optional: it is there twice.
std::optional<std::string_view> SingleHeader(const Request& request, std::string_view name);

}  // namespace api
