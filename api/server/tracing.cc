#include "api/server/tracing.h"

#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "api/server/request_facts.h"

namespace api {
namespace {

// Longer ones may be dropped, as the standard has it.
constexpr std::size_t kMaxTraceState = 512;

std::string_view HostOf(std::string_view address) {
  return address.substr(0, address.rfind(':'));
}

// Names that nobody knows may be anything, so they do not become names of spans.
std::string_view MethodOf(const Request& request) {
  return request.method() == Method::kOther ? "_OTHER" : MethodName(request.method());
}

std::string NameOf(const Request& request) {
  std::string name(request.method() == Method::kOther ? "HTTP" : MethodName(request.method()));
  if (!request.route().empty()) {
    name += ' ';
    name += request.route();
  }
  return name;
}

std::vector<Attribute> AttributesOf(const Request& request, int status, std::string_view scheme) {
  std::vector<Attribute> attributes;
  const auto add = [&attributes](std::string name, std::string_view value) {
    if (!value.empty()) {
      attributes.emplace_back(std::move(name), std::string(value));
    }
  };
  add("http.request.method", MethodOf(request));
  add("http.route", request.route());
  attributes.emplace_back("http.response.status_code", std::int64_t{status});
  if (status >= 500) {
    add("error.type", std::to_string(status));
  }
  add("url.path", request.path());
  add("url.scheme", scheme);
  add("client.address", HostOf(request.remote_address()));
  add("user_agent.original", request.Header("User-Agent").value_or(""));
  add("hyperfleet.request_id", request.id());
  if (const std::string_view id = request.PathParameter("id"); !id.empty()) {
    add("hyperfleet.resource_type", ResourceTypeOf(request));
    add("hyperfleet.resource_id", id);
  }
  return attributes;
}

}  // namespace

void RecordRequest(const Request& request, int status, double seconds, engine::Timestamp now,
                   std::string_view scheme, Tracer& tracer) {
  if (IsProbe(request)) {
    return;
  }
  const std::optional<TraceContext> parent = TraceOf(request);
  std::optional<SpanIds> ids = tracer.Begin(parent);
  if (!ids) {
    return;
  }
  Span span;
  span.trace_id = std::move(ids->trace_id);
  span.span_id = std::move(ids->span_id);
  span.parent_id = std::move(ids->parent_id);
  const std::string_view state = parent ? request.Header("tracestate").value_or("") : "";
  span.trace_state = state.size() <= kMaxTraceState ? state : "";
  span.name = NameOf(request);
  span.duration = engine::Duration(std::llround(seconds * 1e9));
  span.start.micros = now.micros - std::llround(seconds * 1e6);
  span.attributes = AttributesOf(request, status, scheme);
  span.is_error = status >= 500;
  tracer.Record(std::move(span));
}

void AddTracing(const Tracer& tracer, Samples& samples) {
  const Tracer::Counters& counters = tracer.counters();
  const auto add = [&samples](std::string_view name, std::string_view help, std::uint64_t value,
                              std::string_view reason = "") {
    samples.push_back({std::string(name),
                       std::string(help),
                       MetricType::kCounter,
                       static_cast<double>(value),
                       {}});
    if (!reason.empty()) {
      samples.back().labels = {{"reason", std::string(reason)}};
    }
  };
  constexpr std::string_view kDropped = "halo_trace_spans_dropped_total";
  constexpr std::string_view kDroppedHelp = "Spans that were not exported.";
  add(kDropped, kDroppedHelp, counters.dropped_full.load(), "queue_full");
  add(kDropped, kDroppedHelp, counters.dropped_unsent.load(), "not_taken");
  add("halo_trace_spans_exported_total", "Spans that the collector took.",
      counters.exported.load());
  add("halo_trace_export_failures_total", "Tries to export spans that failed.",
      counters.failures.load());
}

}  // namespace api
