// The traces of a server: a span for each request that was answered, but for probes and scrapes.
//
// A span is called `METHOD route`, so that its name has no ids; what it is about is in its
// attributes. Query strings, headers and bodies are not in it.

#pragma once

#include <string_view>

#include "api/http/request.h"
#include "api/server/metrics.h"
#include "api/tracing/tracer.h"
#include "engine/base/clock.h"

namespace api {

// Hands the span of `request`, which took `seconds` up to `now`, to `tracer` if its trace is kept.
// `scheme`: `http` or `https`. Thread-safe; does not block.
void RecordRequest(const Request& request, int status, double seconds, engine::Timestamp now,
                   std::string_view scheme, Tracer& tracer);

// `halo_trace_...`.
void AddTracing(const Tracer& tracer, Samples& samples);

}  // namespace api
