#include "api/server/access_log.h"

#include <cmath>

#include "api/server/version.h"
#include "engine/base/logging.h"

namespace api {
namespace {

bool IsProbe(const Request& request) {
  return request.path() == "/healthz" || request.path() == "/readyz" ||
         request.path() == "/metrics";
}

engine::Severity SeverityOf(const Request& request, int status) {
  if (IsProbe(request)) {
    return engine::Severity::kDebug;
  }
  if (status >= 500) {
    return engine::Severity::kError;
  }
  return status == 401 || status == 403 ? engine::Severity::kWarning : engine::Severity::kInfo;
}

}  // namespace

void LogAnswer(const Request& request, int status, double seconds) {
  const double milliseconds = std::round(seconds * 1e6) / 1e3;
  engine::Log(SeverityOf(request, status), "answered",
              {{"component", "api"},
               {"version", kVersion},
               {"request_id", request.id()},
               {"method", request.method_name()},
               {"path", request.path()},
               {"status_code", status},
               {"duration_ms", milliseconds},
               {"remote_addr", request.remote_address()},
               {"user_agent", request.Header("User-Agent").value_or("")}});
}

}  // namespace api
