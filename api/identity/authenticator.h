// Authenticator: whether a request carries a token of a known issuer, and who acts by it.
//
// Several issuers may be known, each with a header of its own. They are asked in turn; the first
// that accepts the token in its header decides. Else, if one would have accepted it but for its
// age, the token has expired.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <absl/status/statusor.h>

#include "api/http/problem.h"
#include "api/http/request.h"
#include "api/identity/identity_claim.h"
#include "api/identity/key_source.h"
#include "api/identity/options.h"
#include "api/identity/token.h"
#include "engine/base/clock.h"
#include "engine/base/deadline.h"

namespace api {

// Who is authenticated. The name is empty where the token is good and says nobody's name that can
// be recorded: enough to read, not to change anything.
struct Authenticated {
  std::optional<std::string> actor;
  engine::Deadline until = engine::Deadline::Infinite();  // When the token has expired.
};

// Why nobody is: kUnauthenticated, kInvalidCredentials, kInvalidToken, or kUnavailable while an
// issuer's keys have not been fetched yet.
struct Unauthenticated {
  ProblemCode code = ProblemCode::kUnauthenticated;
  std::string detail;
};

// The token names a key that this source may know once it has asked again.
struct NeedsKeys {
  KeySource* source = nullptr;
};

using AuthVerdict = std::variant<Authenticated, Unauthenticated, NeedsKeys>;

// Thread-safe. Check never blocks; Make reads files, and destruction waits for fetches to end.
class Authenticator {
 public:
  // Without JWT there is nothing to check. Fails with kInvalidArgument or kNotFound, naming the
  // issuer, when a file or pattern cannot be used. `options` have been checked (options.h).
  static absl::StatusOr<std::unique_ptr<Authenticator>> Make(
      IdentityOptions options, const engine::Clock& clock = engine::SystemClock(),
      engine::Duration key_pause = KeySourceOptions().pause);

  bool enabled() const { return options_.jwt_enabled; }
  const IdentityOptions& options() const { return options_; }

  // REQUIRES: enabled. `may_need_keys`: false once keys have been asked for.
  AuthVerdict Check(const Request& request, bool may_need_keys) const;

  // Fetches of keys that succeeded and failed, over all issuers.
  std::uint64_t fetched() const;
  std::uint64_t failed() const;

 private:
  struct Issuer {
    ClaimRules claims;
    std::string header;
    IdentityRules identity;
    std::unique_ptr<KeySource> keys;
  };
  // What one issuer says of what is in its header. Of several, the last in this order counts.
  enum class Opinion { kAbsent, kNotBearer, kBad, kUnknownKey, kNoKeys, kExpired, kAccepted };

  Authenticator(IdentityOptions options, const engine::Clock& clock)
      : options_(std::move(options)), clock_(clock) {}

  Opinion Judge(const Issuer& issuer, const Request& request, std::optional<Token>& token) const;

  const IdentityOptions options_;
  const engine::Clock& clock_;
  std::vector<Issuer> issuers_;
};

}  // namespace api
