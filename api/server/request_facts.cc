#include "api/server/request_facts.h"

namespace api {

bool IsProbe(const Request& request) {
  return request.path() == "/healthz" || request.path() == "/readyz" ||
         request.path() == "/metrics";
}

std::string_view ResourceTypeOf(const Request& request) {
  const std::string_view label = request.route_label();
  const std::size_t variable = label.rfind("/-");
  if (variable == std::string_view::npos) {
    return {};
  }
  const std::string_view before = label.substr(0, variable);
  return before.substr(before.rfind('/') + 1);
}

}  // namespace api
