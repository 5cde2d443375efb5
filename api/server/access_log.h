// The access log: one line for each answer.
//
// Headers are not logged but for `User-Agent`, and of the target only the path: credentials and
// search terms never get there.

#pragma once

#include "api/http/request.h"

namespace api {

// Probes and scrapes (/healthz, /readyz, /metrics) at debug, 5xx at error, 401 and 403 at warning,
// everything else at info. Thread-safe; does not block when the log's sink does not.
void LogAnswer(const Request& request, int status, double seconds);

}  // namespace api
