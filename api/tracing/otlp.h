// Spans as OTLP/HTTP in JSON, what every collector of OpenTelemetry takes at `/v1/traces`.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/tracing/span.h"

namespace api {

// An ExportTraceServiceRequest. `resource` says who made the spans: `service.name` and so on.
std::string OtlpJson(std::span<const Attribute> resource, std::span<const Span> spans);

// What a collector that took a request says it did not take of it.
struct Rejected {
  std::uint64_t spans = 0;
  std::string why;
};
// Nothing when `answer` is not what such an answer looks like.
Rejected RejectedSpans(std::string_view answer);

}  // namespace api
