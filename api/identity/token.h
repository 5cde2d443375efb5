// Token: a signed token (JWS in compact form, RFC 7515) and the claims of a JWT (RFC 7519).
//
//   ASSIGN_OR_RETURN(Token token, Token::Parse(text));
//   if (token.CheckSignature(keys) == SignatureVerdict::kGood) {
//     ClaimVerdict verdict = CheckClaims(*token.Claims(), rules, now);
//   }
//
// Pure functions of their arguments; thread-safe, never block.

#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>

#include "api/identity/keys.h"
#include "api/json/parser.h"
#include "engine/base/clock.h"

namespace api {

enum class SignatureVerdict {
  kGood,
  kBad,         // The key that the token names did not sign it.
  kUnknownKey,  // No key of the set has that name, or none fits a token that names none.
};

// Immutable.
class Token {
 public:
  // Fails with kInvalidArgument: not three parts, a header that is no object, `alg` outside of the
  // list (keys.h), any `crit`, or more than 16 KiB. What is in the payload is not looked at.
  static absl::StatusOr<Token> Parse(std::string_view text);

  SignatureVerdict CheckSignature(const KeySet& keys) const;

  // Empty when the payload is no object. Not to be believed before the signature is good.
  const std::optional<JsonObject>& Claims() const { return claims_; }

 private:
  Token() = default;

  SignatureAlgorithm algorithm_ = SignatureAlgorithm::kRs256;
  std::optional<std::string> kid_;
  std::string signed_text_;
  std::string signature_;
  std::optional<JsonObject> claims_;
};

struct ClaimRules {
  std::string issuer;    // `iss` is exactly that.
  std::string audience;  // `aud` is or contains that; empty: whatever it is.
};

// How far apart the clocks of issuers and ours may be.
inline constexpr engine::Duration kClaimLeeway = std::chrono::seconds(30);

enum class ClaimVerdict {
  kGood,
  kExpired,  // Everything else is good.
  kBad,      // Another issuer or audience, not valid yet, no `exp`, or a claim of a wrong type.
};
ClaimVerdict CheckClaims(const JsonObject& claims, const ClaimRules& rules, engine::Timestamp now);

// How long claims that are good now stay so; ten years at most.
engine::Duration GoodFor(const JsonObject& claims, engine::Timestamp now);

}  // namespace api
