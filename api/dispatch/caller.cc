#include "api/dispatch/caller.h"

#include <algorithm>

#include <absl/status/status.h>
#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/sha256.h"
#include "engine/base/status_macros.h"

namespace api {
namespace {

constexpr std::size_t kMaxNameBytes = 255;
constexpr std::string_view kBearer = "Bearer ";

std::string_view TrimRight(std::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\t' || line.back() == '\r')) {
    line.remove_suffix(1);
  }
  return line;
}

bool HasControl(std::string_view text) {
  return std::ranges::any_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

// Looks at every byte, whatever differs first.
bool EqualInConstantTime(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) {
    return false;
  }
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  }
  return difference == 0;
}

absl::Status CheckLine(std::string_view name, std::string_view token, int line) {
  const auto refuse = [line](std::string_view why) {
    return absl::InvalidArgumentError(absl::StrFormat("line %d: %s", line, why));
  };
  if (name.empty() || token.empty()) {
    return refuse("expected name:token");
  }
  if (name.size() > kMaxNameBytes) {
    return refuse("the name is over 255 bytes");
  }
  if (HasControl(name) || HasControl(token)) {
    return refuse("a control character");
  }
  return absl::OkStatus();
}

// Scheme, user information, port and path taken off: what an Origin or a Host names, with port.
std::string_view HostOfOrigin(std::string_view origin) {
  const std::size_t scheme = origin.find("://");
  return scheme == std::string_view::npos ? std::string_view() : origin.substr(scheme + 3);
}

}  // namespace

absl::StatusOr<AdminTokens> AdminTokens::Parse(std::string_view text) {
  AdminTokens tokens;
  int number = 0;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = TrimRight(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    ++number;
    if (line.empty() || line.front() == '#') {
      continue;
    }
    const std::size_t colon = line.find(':');
    const std::string_view name = line.substr(0, colon);
    const std::string_view token =
        colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    RETURN_IF_ERROR(CheckLine(name, token, number));
    const auto [place, inserted] =
        tokens.names_.emplace(engine::Sha256Of(token), std::string(name));
    if (!inserted && place->second != name) {
      return absl::InvalidArgumentError(
          absl::StrFormat("line %d: the token belongs to another name too", number));
    }
  }
  return tokens;
}

std::optional<std::string> AdminTokens::NameOf(const Request& request) const {
  const std::optional<std::string_view> header = request.Header("Authorization");
  if (!header || !header->starts_with(kBearer)) {
    return std::nullopt;
  }
  const std::string hash = engine::Sha256Of(header->substr(kBearer.size()));
  std::optional<std::string> found;
  for (const auto& [known, name] : names_) {
    if (GUARD("admin.token", EqualInConstantTime(known, hash))) {
      found = name;
    }
  }
  return found;
}

std::string AddressOf(std::string_view remote_address) {
  if (remote_address.starts_with('[')) {
    return std::string(remote_address.substr(1, remote_address.find(']') - 1));
  }
  return std::string(remote_address.substr(0, remote_address.find(':')));
}

bool IsCrossOrigin(const Request& request) {
  const std::optional<std::string_view> site = request.Header("Sec-Fetch-Site");
  if (site && *site != "same-origin" && *site != "none") {
    return true;
  }
  const std::optional<std::string_view> origin = request.Header("Origin");
  if (!origin) {
    return false;
  }
  const std::optional<std::string_view> host = request.Header("Host");
  return !host || !EqualsIgnoreCase(HostOfOrigin(*origin), *host);
}

}  // namespace api
