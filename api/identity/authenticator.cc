#include "api/identity/authenticator.h"

#include <algorithm>
#include <utility>

#include <absl/strings/str_format.h>

#include "api/identity/tenant_headers.h"
#include "engine/base/status_macros.h"

namespace api {
namespace {

// What follows `Bearer`, whatever its case; empty when it is another scheme or nothing follows.
std::string_view BearerToken(std::string_view value) {
  constexpr std::string_view kScheme = "Bearer";
  if (value.size() <= kScheme.size() ||
      !EqualsIgnoreCase(value.substr(0, kScheme.size()), kScheme)) {
    return {};
  }
  value.remove_prefix(kScheme.size());
  const std::size_t first = value.find_first_not_of(" \t");
  if (first == 0 || first == std::string_view::npos) {
    return {};
  }
  value.remove_prefix(first);
  return value.find_first_of(" \t") == std::string_view::npos ? value : std::string_view();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Authenticator>> Authenticator::Make(IdentityOptions options,
                                                                   const engine::Clock& clock,
                                                                   engine::Duration key_pause) {
  std::unique_ptr<Authenticator> made(new Authenticator(std::move(options), clock));
  if (!made->enabled()) {
    return made;
  }
  for (const IssuerOptions& issuer : made->options_.issuers) {
    auto identity = IdentityRules::Make(issuer);
    auto keys =
        KeySource::Open({.file = issuer.jwk_cert_file,
                         .fetch = {.url = issuer.jwk_cert_url, .ca_file = issuer.jwk_cert_ca_file},
                         .pause = key_pause});
    const absl::Status& why = identity.ok() ? keys.status() : identity.status();
    if (!why.ok()) {
      return absl::Status(why.code(),
                          absl::StrFormat("issuer %s: %s", issuer.issuer_url,
                                          std::string(why.message().data(), why.message().size())));
    }
    made->issuers_.push_back({{issuer.issuer_url, issuer.audience},
                              issuer.header,
                              *std::move(identity),
                              *std::move(keys)});
  }
  return made;
}

Authenticator::Opinion Authenticator::Judge(const Issuer& issuer, const Request& request,
                                            std::optional<Token>& token) const {
  const auto value = SingleHeader(request, issuer.header);
  if (!value) {
    return Opinion::kBad;
  }
  if (value->empty()) {
    return Opinion::kAbsent;
  }
  const std::string_view text = BearerToken(*value);
  if (text.empty()) {
    return Opinion::kNotBearer;
  }
  absl::StatusOr<Token> parsed = Token::Parse(text);
  if (!parsed.ok() || !parsed->Claims()) {
    return Opinion::kBad;
  }
  // Judged before the signature, which costs more, and so that a token of another issuer does not
  // make this one fetch keys. What it says is believed only once the signature is good.
  const ClaimVerdict claims = CheckClaims(*parsed->Claims(), issuer.claims, clock_.Now());
  if (claims == ClaimVerdict::kBad) {
    return Opinion::kBad;
  }
  const std::shared_ptr<const KeySet> keys = issuer.keys->Keys();
  const SignatureVerdict signature =
      keys == nullptr ? SignatureVerdict::kUnknownKey : parsed->CheckSignature(*keys);
  if (signature != SignatureVerdict::kGood) {
    return signature == SignatureVerdict::kBad ? Opinion::kBad
           : keys == nullptr                   ? Opinion::kNoKeys
                                               : Opinion::kUnknownKey;
  }
  token = *std::move(parsed);
  return claims == ClaimVerdict::kExpired ? Opinion::kExpired : Opinion::kAccepted;
}

AuthVerdict Authenticator::Check(const Request& request, bool may_need_keys) const {
  Opinion last = Opinion::kAbsent;
  KeySource* unsure = nullptr;
  for (const Issuer& issuer : issuers_) {
    std::optional<Token> token;
    const Opinion opinion = Judge(issuer, request, token);
    if (opinion == Opinion::kAccepted) {
      return Authenticated{
          issuer.identity.Resolve(request, *token->Claims(), options_.trusted_proxies),
          engine::Deadline::After(GoodFor(*token->Claims(), clock_.Now()), clock_)};
    }
    if (opinion == Opinion::kNoKeys || opinion == Opinion::kUnknownKey) {
      unsure = issuer.keys.get();
    }
    last = std::max(last, opinion);
  }
  if (unsure != nullptr && may_need_keys) {
    return NeedsKeys{unsure};
  }
  switch (last) {
    case Opinion::kAbsent:
      return Unauthenticated{ProblemCode::kUnauthenticated, "a bearer token is required"};
    case Opinion::kNotBearer:
      return Unauthenticated{ProblemCode::kInvalidCredentials,
                             "the scheme of the credentials must be Bearer"};
    case Opinion::kExpired:
      return Unauthenticated{ProblemCode::kInvalidToken, "the token has expired"};
    case Opinion::kNoKeys:
      return Unauthenticated{ProblemCode::kUnavailable,
                             "the keys of the token's issuer have not been fetched yet"};
    default:
      return Unauthenticated{ProblemCode::kInvalidCredentials, "the token is not valid"};
  }
}

std::uint64_t Authenticator::fetched() const {
  std::uint64_t sum = 0;
  for (const Issuer& issuer : issuers_) {
    sum += issuer.keys->fetched();
  }
  return sum;
}

std::uint64_t Authenticator::failed() const {
  std::uint64_t sum = 0;
  for (const Issuer& issuer : issuers_) {
    sum += issuer.keys->failed();
  }
  return sum;
}

}  // namespace api
