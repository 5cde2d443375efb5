#include "api/dispatch/admission.h"

#include <string_view>
#include <utility>

#include "api/http/problem.h"
#include "api/identity/tenant_headers.h"
#include "engine/base/guard.h"

namespace api {
namespace {

bool Changes(const Request& request) {
  return request.method() != Method::kGet && request.method() != Method::kHead;
}

Response RefuseCredentials(const Request& request, ProblemCode code, std::string_view detail) {
  Response response = RefuseRequest(request, code, detail);
  if (code == ProblemCode::kUnavailable) {
    response.With("Retry-After", "1");
    return response;
  }
  response.With("WWW-Authenticate", code == ProblemCode::kUnauthenticated
                                        ? "Bearer"
                                        : "Bearer error=\"invalid_token\"");
  return response;
}

// Reports of statuses are what the system is for; the rest is for tenants to change.
bool MaySystemDo(const Request& request) {
  return !Changes(request) || request.method() == Method::kPut;
}

// Streams are operators' to watch, whoever else may watch some of them; of resources alone they are
// somebody's like everybody.
bool IsForAllTenants(const Caller& caller, const Request& request, const TenantOptions& tenant) {
  return caller.is_admin && !AnswersProblems(request) && !NamesTenant(request, tenant);
}

}  // namespace

std::variant<Caller, Response> Admission::JudgeOperator(const Request& request) const {
  const std::optional<std::string> name = tokens_.NameOf(request);
  if (!GUARD("admin.required", name.has_value())) {
    const bool presented = request.Header("Authorization").has_value();
    Response refusal = ControlError(401, presented ? "invalid token" : "login required");
    refusal.With("WWW-Authenticate", presented ? "Bearer error=\"invalid_token\"" : "Bearer");
    return refusal;
  }
  const bool cross_origin = Changes(request) && IsCrossOrigin(request);
  if (!GUARD("admin.same-origin", !cross_origin)) {
    return ControlError(403, "cross-origin request rejected");
  }
  Caller caller;
  caller.actor = name.value_or("");
  caller.is_admin = true;
  return caller;
}

Admission::Verdict Admission::Authenticate(const Request& request, bool may_need_keys) const {
  Caller caller;
  if (std::optional<std::string> name = tokens_.NameOf(request)) {
    caller.actor = *std::move(name);
    caller.is_admin = true;
    return caller;
  }
  if (!authenticator_.enabled()) {
    return caller;
  }
  AuthVerdict verdict = authenticator_.Check(request, may_need_keys);
  if (const auto* needs = std::get_if<NeedsKeys>(&verdict)) {
    return *needs;
  }
  if (auto* refused = std::get_if<Unauthenticated>(&verdict);
      !GUARD("identity.required", refused == nullptr)) {
    return RefuseCredentials(request, refused->code, refused->detail);
  }
  const auto* known = std::get_if<Authenticated>(&verdict);
  const bool has_name = known != nullptr && known->actor.has_value();
  if (!GUARD("identity.named", has_name || !Changes(request))) {
    return RefuseCredentials(request, ProblemCode::kUnauthenticated,
                             "nobody is named whom the change could be recorded for");
  }
  if (has_name) {
    caller.actor = *known->actor;
  }
  if (known != nullptr) {
    caller.until = known->until;
  }
  return caller;
}

Admission::Verdict Admission::Judge(Access access, const Request& request,
                                    bool may_need_keys) const {
  if (access == Access::kAdmin) {
    std::variant<Caller, Response> judged = JudgeOperator(request);
    if (auto* refusal = std::get_if<Response>(&judged)) {
      return std::move(*refusal);
    }
    return std::get<Caller>(std::move(judged));
  }
  Verdict verdict = Authenticate(request, may_need_keys);
  auto* caller = std::get_if<Caller>(&verdict);
  if (caller == nullptr) {
    return verdict;
  }
  // A page of another site, open in a browser on this machine, must not reach an open server.
  const bool cross_origin = Changes(request) && IsCrossOrigin(request);
  if (!GUARD("resources.same-origin", !cross_origin)) {
    return RefuseRequest(request, ProblemCode::kPermissionDenied, "Cross-origin request rejected");
  }
  const IdentityOptions& options = authenticator_.options();
  if (IsForAllTenants(*caller, request, options.tenant)) {
    return verdict;
  }
  auto tenant = ResolveTenant(request, options.tenant, options.trusted_proxies);
  if (auto* reason = std::get_if<std::string>(&tenant)) {
    return RefuseRequest(request, ProblemCode::kPermissionDenied, *reason);
  }
  auto& resolved = std::get<RequestTenant>(tenant);
  if (!GUARD("tenant.system-writes", !resolved.is_system || MaySystemDo(request))) {
    return RefuseRequest(request, ProblemCode::kPermissionDenied,
                         "the system itself reports statuses and changes nothing else");
  }
  caller->tenant = std::move(resolved.scope);
  caller->is_system = resolved.is_system;
  return verdict;
}

}  // namespace api
