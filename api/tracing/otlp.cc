#include "api/tracing/otlp.h"

#include <charconv>

#include "api/json/parser.h"
#include "api/json/writer.h"

namespace api {
namespace {

constexpr int kServerKind = 2;
constexpr int kErrorStatus = 2;

void WriteAttributes(std::span<const Attribute> attributes, JsonWriter& json) {
  json.BeginArray();
  for (const auto& [name, value] : attributes) {
    json.BeginObject();
    json.Key("key").String(name);
    json.Key("value").BeginObject();
    if (const auto* const number = std::get_if<std::int64_t>(&value)) {
      json.Key("intValue").String(std::to_string(*number));
    } else {
      json.Key("stringValue").String(std::get<std::string>(value));
    }
    json.EndObject();
    json.EndObject();
  }
  json.EndArray();
}

// 64-bit numbers are strings in the JSON of protocol buffers.
void WriteTimes(const Span& span, JsonWriter& json) {
  const std::int64_t start = span.start.micros * 1000;
  json.Key("startTimeUnixNano").String(std::to_string(start));
  json.Key("endTimeUnixNano").String(std::to_string(start + span.duration.count()));
}

void WriteSpan(const Span& span, JsonWriter& json) {
  json.BeginObject();
  json.Key("traceId").String(span.trace_id);
  json.Key("spanId").String(span.span_id);
  if (!span.parent_id.empty()) {
    json.Key("parentSpanId").String(span.parent_id);
  }
  if (!span.trace_state.empty()) {
    json.Key("traceState").String(span.trace_state);
  }
  json.Key("name").String(span.name);
  json.Key("kind").Int(kServerKind);
  WriteTimes(span, json);
  json.Key("attributes");
  WriteAttributes(span.attributes, json);
  json.Key("status").BeginObject();
  if (span.is_error) {
    json.Key("code").Int(kErrorStatus);
  }
  json.EndObject();
  json.EndObject();
}

}  // namespace

std::string OtlpJson(std::span<const Attribute> resource, std::span<const Span> spans) {
  std::string text;
  JsonWriter json(text);
  json.BeginObject();
  json.Key("resourceSpans").BeginArray().BeginObject();
  json.Key("resource").BeginObject();
  json.Key("attributes");
  WriteAttributes(resource, json);
  json.EndObject();
  json.Key("scopeSpans").BeginArray().BeginObject();
  json.Key("scope").BeginObject();
  json.Key("name").String("halo");
  json.EndObject();
  json.Key("spans").BeginArray();
  for (const Span& span : spans) {
    WriteSpan(span, json);
  }
  json.EndArray().EndObject().EndArray().EndObject().EndArray().EndObject();
  return text;
}

Rejected RejectedSpans(std::string_view answer) {
  const JsonParse parsed = ParseJson(answer);
  if (!parsed.ok() || !parsed.value->is_object()) {
    return {};
  }
  const JsonValue* const partial = parsed.value->get_object().if_contains("partialSuccess");
  if (partial == nullptr || !partial->is_object()) {
    return {};
  }
  Rejected rejected;
  if (const JsonValue* const why = partial->get_object().if_contains("errorMessage");
      why != nullptr && why->is_string()) {
    rejected.why = why->get_string();
  }
  const JsonValue* const count = partial->get_object().if_contains("rejectedSpans");
  if (count != nullptr && count->is_string()) {
    const std::string_view text = count->get_string();
    std::from_chars(text.data(), text.data() + text.size(), rejected.spans);
  } else if (count != nullptr && count->is_int64() && count->get_int64() > 0) {
    rejected.spans = static_cast<std::uint64_t>(count->get_int64());
  }
  return rejected;
}

}  // namespace api
