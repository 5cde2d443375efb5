// The access log: a line when a request arrives and one when it was answered.
//
// Of the target only the path is logged: search terms never get there. Headers are in the first
// line, in their order, those that carry credentials as `***REDACTED***`.

#pragma once

#include <string>
#include <vector>

#include "api/http/request.h"

namespace api {

struct AccessLogOptions {
  bool is_masked = true;
  // Names of headers whose values are masked, whatever the case. A value that begins with `Bearer`
  // or `Basic` is masked under every name: an issuer's tokens may come in any header.
  std::vector<std::string> masked_headers = {"Authorization", "X-API-Key", "Cookie", "X-Auth-Token",
                                             "X-Forwarded-Authorization"};
};

// Probes and scrapes (/healthz, /readyz, /metrics) at debug, answers of 5xx at error, 401 and 403
// at warning, everything else at info. Thread-safe; does not block when the log's sink does not.
class AccessLog {
 public:
  explicit AccessLog(AccessLogOptions options);

  void Arrived(const Request& request) const;
  void Answered(const Request& request, int status, double seconds) const;

 private:
  bool IsSecret(const HeaderField& field) const;
  std::string HeadersOf(const Request& request) const;

  const AccessLogOptions options_;
};

}  // namespace api
