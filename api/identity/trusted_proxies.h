// TrustedProxies: the networks from which headers about the caller are believed.

#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

namespace api {

// Immutable, so thread-safe; never blocks.
class TrustedProxies {
 public:
  TrustedProxies() = default;

  // `10.0.0.0/8,192.0.2.7,2001:db8::/32`; blanks around commas are left out. An address alone is
  // itself. Fails with kInvalidArgument, naming the part that is no network, and for an empty list.
  static absl::StatusOr<TrustedProxies> Parse(std::string_view text);

  // Nothing was said: nobody is told apart.
  bool empty() const { return networks_.empty(); }

  // Whether headers of a request from there count: `192.0.2.7:41234`, `[2001:db8::1]:443`. Of an
  // empty list everybody's; otherwise an address that cannot be read is not trusted.
  bool Trust(std::string_view remote_address) const;

 private:
  // Addresses of version 4 are kept as those of version 6 that stand for them.
  using Address = std::array<std::uint8_t, 16>;
  struct Network {
    Address address;
    int bits;
  };
  static bool ReadAddress(std::string_view text, Address& address, bool& is_v4);
  static bool IsIn(const Network& network, const Address& address);
  static bool ReadNetwork(std::string_view text, Network& network);

  std::vector<Network> networks_;
};

}  // namespace api
