// W3C Trace Context: which trace of the caller a request belongs to, from its `traceparent`.
//
// Thread-safe; never blocks.

#pragma once

#include <optional>
#include <string_view>

#include "api/http/request.h"

namespace api {

struct TraceContext {
  std::string_view trace_id;   // 32 hexadecimal digits in lower case, not all zero.
  std::string_view parent_id;  // 16 of them: the caller's span.
  bool is_sampled = false;     // Whether the caller keeps the trace.
};

// Empty without the header, and when it is malformed or there twice: then there is no trace, as
// the standard wants it. Points into the request.
std::optional<TraceContext> TraceOf(const Request& request);

// What an answer calls its trace: the caller's trace id, else the request's own id.
std::string_view TraceIdOf(const Request& request);

}  // namespace api
