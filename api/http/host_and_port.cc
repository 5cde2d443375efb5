#include "api/http/host_and_port.h"

#include <charconv>

namespace api {

std::optional<HostAndPort> SplitHostAndPort(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) {
    return std::nullopt;
  }
  std::string_view host = text.substr(0, colon);
  const std::string_view port = text.substr(colon + 1);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find(':') != std::string_view::npos) {
    return std::nullopt;
  }
  unsigned number = 0;
  const auto parsed = std::from_chars(port.data(), port.data() + port.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != port.data() + port.size() || number > 65535) {
    return std::nullopt;
  }
  return HostAndPort{host.empty() ? "0.0.0.0" : std::string(host), std::string(port)};
}

}  // namespace api
