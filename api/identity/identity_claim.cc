#include "api/identity/identity_claim.h"

#include <algorithm>
#include <array>
#include <utility>

#include <absl/strings/str_format.h>
#include <re2/re2.h>

#include "api/identity/tenant_headers.h"
#include "engine/base/guard.h"

namespace api {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kAliases = {{
    {"username", "preferred_username"},
    {"first_name", "given_name"},
    {"last_name", "family_name"},
    {"client_id", "clientId"},
    {"issuer", "iss"},
}};

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(kBlanks);
  return first == std::string_view::npos
             ? std::string_view()
             : text.substr(first, text.find_last_not_of(kBlanks) + 1 - first);
}

std::string TextIn(const JsonObject& claims, std::string_view name) {
  const JsonValue* value = claims.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

bool HasControl(std::string_view text) {
  return std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

// Half of `name`, where an issuer has no claims for the halves.
std::string HalfOfName(const JsonObject& claims, bool first) {
  const std::string name = TextIn(claims, "name");
  const std::size_t blank = name.find(' ');
  if (first) {
    return name.substr(0, blank);
  }
  return blank == std::string::npos ? std::string() : name.substr(blank + 1);
}

}  // namespace

std::string ClaimText(const JsonObject& claims, std::string_view claim) {
  std::string text = TextIn(claims, claim);
  for (const auto& [ours, theirs] : kAliases) {
    if (!text.empty() || (claim != ours && claim != theirs)) {
      continue;
    }
    text = TextIn(claims, claim == ours ? theirs : ours);
    if (text.empty() && (ours == "first_name" || ours == "last_name")) {
      text = HalfOfName(claims, ours == "first_name");
    }
  }
  return text;
}

absl::StatusOr<IdentityRules> IdentityRules::Make(const IssuerOptions& options) {
  IdentityRules rules;
  rules.header_ = options.identity_header;
  rules.claim_ = options.identity_claim;
  if (!options.identity_claim_pattern.empty()) {
    RE2::Options quiet;
    quiet.set_log_errors(false);
    const auto pattern = std::make_shared<const RE2>(options.identity_claim_pattern, quiet);
    if (!pattern->ok()) {
      return absl::InvalidArgumentError(
          absl::StrFormat("identity_claim_pattern: %s", pattern->error()));
    }
    rules.pattern_ = pattern;
  }
  return rules;
}

std::optional<std::string> IdentityRules::Checked(std::string_view text) const {
  const bool fits = text.size() <= kMaxIdentityBytes && !HasControl(text);
  if (!GUARD("identity.text", fits)) {
    return std::nullopt;
  }
  const bool matches = pattern_ == nullptr || RE2::PartialMatch(std::string(text), *pattern_);
  if (!GUARD("identity.pattern", matches)) {
    return std::nullopt;
  }
  return std::string(text);
}

std::optional<std::string> IdentityRules::Resolve(const Request& request, const JsonObject& claims,
                                                  const TrustedProxies& trusted) const {
  const bool header_counts =
      !header_.empty() && GUARD("identity.trusted-proxy", trusted.Trust(request.remote_address()));
  if (header_counts) {
    const auto value = SingleHeader(request, header_);
    if (!value) {
      return std::nullopt;
    }
    if (!value->empty()) {
      return Checked(*value);
    }
  }
  const std::string text = ClaimText(claims, claim_);
  const std::string_view trimmed = Trim(text);
  return trimmed.empty() ? std::nullopt : Checked(trimmed);
}

}  // namespace api
