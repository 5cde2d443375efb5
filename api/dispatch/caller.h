// Caller: who asks, as far as credentials show it.

#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>

#include "api/http/request.h"
#include "engine/base/deadline.h"
#include "projections/resources/tenant_scope.h"

namespace api {

// Who acts when nobody is known.
inline constexpr std::string_view kSystemActor = "system@hyperfleet.local";

struct Caller {
  std::string actor{kSystemActor};  // As the audit names it.
  bool is_admin = false;
  // Whose resources the caller may know of; what the caller creates carries its dimensions.
  projections::TenantScope tenant = projections::TenantScope::All();
  // The system itself, where tenants are told apart: it sees everything and reports statuses, and
  // changes nothing else.
  bool is_system = false;
  // From then on the credentials are no good any more; who is answered for longer than that has to
  // look at it.
  engine::Deadline until = engine::Deadline::Infinite();
};

// The bearer tokens of operators. Immutable, so thread-safe; never blocks.
class AdminTokens {
 public:
  AdminTokens() = default;

  // One `name:token` a line; empty lines and lines that start with `#` are left out. A name may
  // have several tokens.
  // Fails with kInvalidArgument, naming the line: no colon, an empty name or token, a control
  // character, a name over 255 bytes, a token that two names share. Never quotes a token.
  static absl::StatusOr<AdminTokens> Parse(std::string_view text);

  bool empty() const { return names_.empty(); }

  // The name of the token in the header `Authorization: Bearer <token>` (exactly that prefix).
  // Empty: no such header, or a token that nobody has. Takes the same time for every token.
  std::optional<std::string> NameOf(const Request& request) const;

 private:
  // By SHA-256 of the token: the file's secrets are not kept.
  std::map<std::string, std::string> names_;
};

// `192.0.2.7` of `192.0.2.7:41234`, `2001:db8::1` of `[2001:db8::1]:443`.
std::string AddressOf(std::string_view remote_address);

// Whether a browser sent this from a page of another origin: an `Origin` whose host is not the
// request's `Host`, or a `Sec-Fetch-Site` other than `same-origin` and `none`.
bool IsCrossOrigin(const Request& request);

}  // namespace api
