#include "api/identity/token.h"

#include <algorithm>
#include <utility>

#include "api/identity/base64url.h"
#include "engine/base/guard.h"

namespace api {
namespace {

// The heads of requests are bounded, too; this is for who calls Parse otherwise.
constexpr std::size_t kMaxTokenBytes = std::size_t{16} << 10;

absl::Status Malformed(std::string_view why) {
  return absl::InvalidArgumentError(std::string(why));
}

// The object in a part of the token.
std::optional<JsonObject> ObjectIn(std::string_view part) {
  const auto text = DecodeBase64Url(part);
  if (!text) {
    return std::nullopt;
  }
  JsonParse parsed = ParseJson(*text);
  if (!parsed.ok() || !parsed.value->is_object()) {
    return std::nullopt;
  }
  return std::move(parsed.value->get_object());
}

// Seconds since 1970; empty when the value is no number.
std::optional<double> SecondsOf(const JsonValue& value) {
  if (value.is_int64()) {
    return static_cast<double>(value.get_int64());
  }
  if (value.is_uint64()) {
    return static_cast<double>(value.get_uint64());
  }
  if (value.is_double()) {
    return value.get_double();
  }
  return std::nullopt;
}

bool IsText(const JsonValue& value, std::string_view text) {
  return value.is_string() && std::string_view(value.get_string()) == text;
}

bool IsFor(const JsonObject& claims, std::string_view audience) {
  const JsonValue* value = claims.if_contains("aud");
  if (value == nullptr) {
    return false;
  }
  if (const JsonArray* list = value->if_array()) {
    return std::ranges::any_of(*list,
                               [audience](const JsonValue& one) { return IsText(one, audience); });
  }
  return IsText(*value, audience);
}

bool IsValidYet(const JsonObject& claims, double now, double leeway) {
  const JsonValue* not_before = claims.if_contains("nbf");
  if (not_before == nullptr) {
    return true;
  }
  const auto seconds = SecondsOf(*not_before);
  return seconds && *seconds <= now + leeway;
}

}  // namespace

absl::StatusOr<Token> Token::Parse(std::string_view text) {
  const std::size_t first = text.find('.');
  const std::size_t second = first == std::string_view::npos ? first : text.find('.', first + 1);
  if (second == std::string_view::npos || text.find('.', second + 1) != std::string_view::npos ||
      text.size() > kMaxTokenBytes) {
    return Malformed("a token has three parts");
  }
  const auto header = ObjectIn(text.substr(0, first));
  const JsonValue* alg = header ? header->if_contains("alg") : nullptr;
  if (alg == nullptr || !alg->is_string()) {
    return Malformed("a token's header is an object with `alg`");
  }
  // What is critical has to be understood, and nothing is.
  if (!GUARD("jwt.critical", !header->contains("crit"))) {
    return Malformed("the token demands extensions");
  }
  Token token;
  const auto algorithm = FindSignatureAlgorithm(std::string(alg->get_string()));
  if (!algorithm) {
    return Malformed("a token is signed with RS256, RS384, RS512, PS256, ES256 or ES384");
  }
  token.algorithm_ = *algorithm;
  if (const JsonValue* kid = header->if_contains("kid")) {
    if (!kid->is_string()) {
      return Malformed("`kid` is a text");
    }
    token.kid_ = std::string(kid->get_string());
  }
  auto signature = DecodeBase64Url(text.substr(second + 1));
  if (!signature || !DecodeBase64Url(text.substr(first + 1, second - first - 1))) {
    return Malformed("the parts of a token are base64url");
  }
  token.signature_ = *std::move(signature);
  token.signed_text_ = text.substr(0, second);
  token.claims_ = ObjectIn(text.substr(first + 1, second - first - 1));
  return token;
}

SignatureVerdict Token::CheckSignature(const KeySet& keys) const {
  bool named = false;
  for (const VerificationKey& key : keys.keys()) {
    if (kid_ && key.kid() != *kid_) {
      continue;
    }
    named = named || kid_.has_value();
    if (key.Verify(algorithm_, signed_text_, signature_)) {
      return SignatureVerdict::kGood;
    }
  }
  return named ? SignatureVerdict::kBad : SignatureVerdict::kUnknownKey;
}

ClaimVerdict CheckClaims(const JsonObject& claims, const ClaimRules& rules, engine::Timestamp now) {
  const double seconds = static_cast<double>(now.micros) / 1e6;
  const double leeway = std::chrono::duration<double>(kClaimLeeway).count();
  const JsonValue* issuer = claims.if_contains("iss");
  if (!GUARD("jwt.issuer", issuer != nullptr && IsText(*issuer, rules.issuer))) {
    return ClaimVerdict::kBad;
  }
  if (!rules.audience.empty() && !GUARD("jwt.audience", IsFor(claims, rules.audience))) {
    return ClaimVerdict::kBad;
  }
  if (!GUARD("jwt.not-before", IsValidYet(claims, seconds, leeway))) {
    return ClaimVerdict::kBad;
  }
  const JsonValue* expires = claims.if_contains("exp");
  const std::optional<double> end = expires == nullptr ? std::nullopt : SecondsOf(*expires);
  if (!GUARD("jwt.expires", end.has_value())) {
    return ClaimVerdict::kBad;
  }
  return GUARD("jwt.expired", seconds < end.value_or(0) + leeway) ? ClaimVerdict::kGood
                                                                  : ClaimVerdict::kExpired;
}

engine::Duration GoodFor(const JsonObject& claims, engine::Timestamp now) {
  constexpr double kTenYears = 10 * 365 * 86400.0;
  const JsonValue* expires = claims.if_contains("exp");
  const double end = expires == nullptr ? 0 : SecondsOf(*expires).value_or(0);
  const double leeway = std::chrono::duration<double>(kClaimLeeway).count();
  const double left = end + leeway - static_cast<double>(now.micros) / 1e6;
  return std::chrono::duration_cast<engine::Duration>(
      std::chrono::duration<double>(std::clamp(left, 0.0, kTenYears)));
}

}  // namespace api
