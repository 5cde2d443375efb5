// Admission: who may use a route, judged before anything else: 401 first, then 403.
//
// Routes of operators want an operator's token. Routes of resources want a token of a known issuer
// or an operator's, where tokens are checked, and a tenant, where tenants are told apart; what the
// caller may see and is called goes along with the request (api/dispatch/caller.h).

#pragma once

#include <variant>

#include "api/dispatch/caller.h"
#include "api/http/request.h"
#include "api/http/response.h"
#include "api/identity/authenticator.h"

namespace api {

// Who may call a route, and what becomes of its reads when the store is away.
enum class Access {
  kResources,  // Whoever is authenticated. Store away: 503.
  kAdmin,      // Operators. Store away: the last view, marked with X-Halo-Stale.
};

// Immutable, so thread-safe; never blocks.
class Admission {
 public:
  // Both arguments must outlive the object.
  Admission(const AdminTokens& tokens, const Authenticator& authenticator)
      : tokens_(tokens), authenticator_(authenticator) {}

  // The caller, the refusal, or the keys without which it cannot be said. `may_need_keys`: false
  // once they have been asked for.
  using Verdict = std::variant<Caller, Response, NeedsKeys>;
  Verdict Judge(Access access, const Request& request, bool may_need_keys) const;

 private:
  std::variant<Caller, Response> JudgeOperator(const Request& request) const;
  // Who it is, without what the headers of tenants say.
  Verdict Authenticate(const Request& request, bool may_need_keys) const;

  const AdminTokens& tokens_;
  const Authenticator& authenticator_;
};

}  // namespace api
