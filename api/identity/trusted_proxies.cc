#include "api/identity/trusted_proxies.h"

#include <algorithm>
#include <charconv>
#include <string>

#include <absl/strings/str_format.h>
#include <arpa/inet.h>

#include "engine/base/guard.h"

namespace api {
namespace {

constexpr std::array<std::uint8_t, 12> kV4Prefix = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};

std::string_view Trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) {
    text.remove_prefix(1);
  }
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) {
    text.remove_suffix(1);
  }
  return text;
}

// Without its port and brackets.
std::string_view HostOf(std::string_view remote_address) {
  if (remote_address.starts_with('[')) {
    const std::size_t end = remote_address.find(']');
    return end == std::string_view::npos ? remote_address : remote_address.substr(1, end - 1);
  }
  return remote_address.substr(0, remote_address.find(':'));
}

}  // namespace

bool TrustedProxies::ReadAddress(std::string_view text, Address& address, bool& is_v4) {
  const std::string terminated(text);
  is_v4 = text.find(':') == std::string_view::npos;
  if (is_v4) {
    std::ranges::copy(kV4Prefix, address.begin());
    return inet_pton(AF_INET, terminated.c_str(), address.data() + kV4Prefix.size()) == 1;
  }
  return inet_pton(AF_INET6, terminated.c_str(), address.data()) == 1;
}

bool TrustedProxies::ReadNetwork(std::string_view text, Network& network) {
  const std::size_t slash = text.find('/');
  bool is_v4 = false;
  if (!ReadAddress(text.substr(0, slash), network.address, is_v4)) {
    return false;
  }
  const int width = is_v4 ? 32 : 128;
  int bits = width;
  if (slash != std::string_view::npos) {
    const std::string_view digits = text.substr(slash + 1);
    const char* last = digits.data() + digits.size();
    const auto [end, error] = std::from_chars(digits.data(), last, bits);
    if (error != std::errc() || end != last || bits < 0 || bits > width) {
      return false;
    }
  }
  network.bits = bits + (128 - width);
  return true;
}

bool TrustedProxies::IsIn(const Network& network, const Address& address) {
  for (int bit = 0; bit < network.bits; ++bit) {
    const auto byte = static_cast<std::size_t>(bit / 8);
    const int mask = 0x80 >> bit % 8;
    if (((address[byte] ^ network.address[byte]) & mask) != 0) {
      return false;
    }
  }
  return true;
}

absl::StatusOr<TrustedProxies> TrustedProxies::Parse(std::string_view text) {
  TrustedProxies proxies;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view part = Trim(text.substr(0, comma));
    if (!ReadNetwork(part, proxies.networks_.emplace_back())) {
      return absl::InvalidArgumentError(
          absl::StrFormat("'%s' is no network such as 10.0.0.0/8", part));
    }
    if (comma == std::string_view::npos) {
      return proxies;
    }
    text.remove_prefix(comma + 1);
  }
}

bool TrustedProxies::Trust(std::string_view remote_address) const {
  if (networks_.empty()) {
    return true;
  }
  Address address;
  bool is_v4 = false;
  const bool inside = ReadAddress(HostOf(remote_address), address, is_v4) &&
                      std::ranges::any_of(networks_, [&address](const Network& network) {
                        return IsIn(network, address);
                      });
  return GUARD("tenant.trusted-proxy", inside);
}

}  // namespace api
