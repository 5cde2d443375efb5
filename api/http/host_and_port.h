// HOST:PORT, as listeners are named.
//
// Thread-safe; never blocks: names are not looked up.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace api {

struct HostAndPort {
  std::string host;  // Without brackets; `0.0.0.0` where none was given.
  std::string port;  // 0 to 65535.
};

// `127.0.0.1:80`, `localhost:0`, `[::1]:80`, `:80`. Empty when it is something else.
std::optional<HostAndPort> SplitHostAndPort(std::string_view text);

}  // namespace api
