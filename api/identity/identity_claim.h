// Who acts, as an accepted token and the headers beside it say.

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <absl/status/statusor.h>

#include "api/http/request.h"
#include "api/identity/options.h"
#include "api/json/parser.h"

namespace re2 {
class RE2;
}

namespace api {

// Names in records have at most this many bytes.
inline constexpr std::size_t kMaxIdentityBytes = 255;

// The rules of one issuer. Immutable, so thread-safe; never blocks.
class IdentityRules {
 public:
  // Fails with kInvalidArgument when the pattern is no regular expression (RE2's syntax).
  static absl::StatusOr<IdentityRules> Make(const IssuerOptions& options);

  // The header if it says something and comes from a trusted proxy, else the claim; without blanks
  // around it. Empty when that is nobody: neither says anything, the header is there twice, or the
  // text is over 255 bytes, has control characters or does not match the pattern. A header that
  // cannot be used does not make room for the claim: whoever sent it meant somebody else.
  std::optional<std::string> Resolve(const Request& request, const JsonObject& claims,
                                     const TrustedProxies& trusted) const;

 private:
  IdentityRules() = default;
  std::optional<std::string> Checked(std::string_view text) const;

  std::string header_;
  std::string claim_;
  std::shared_ptr<const re2::RE2> pattern_;  // Null: any text.
};

// The text of a claim, under each of its usual names: `username` is `preferred_username`,
// `first_name` is `given_name` or the first word of `name`, `last_name` is `family_name` or the
// rest of `name`, `client_id` is `clientId`, `issuer` is `iss`, each the other way round too.
// Empty: it is not there, or no text.
std::string ClaimText(const JsonObject& claims, std::string_view claim);

}  // namespace api
