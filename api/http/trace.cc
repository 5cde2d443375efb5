#include "api/http/trace.h"

#include <algorithm>
#include <cstddef>

#include "engine/base/guard.h"

namespace api {
namespace {

// `00-` trace id `-` parent id `-` flags. Later versions may go on behind another dash.
constexpr std::size_t kTraceAt = 3;
constexpr std::size_t kParentAt = 36;
constexpr std::size_t kFlagsAt = 53;
constexpr std::size_t kLength = 55;

bool IsHex(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool IsId(std::string_view text) {
  return IsHex(text) && text.find_first_not_of('0') != std::string_view::npos;
}

std::optional<TraceContext> ParseTraceParent(std::string_view text) {
  if (text.size() < kLength || text[kTraceAt - 1] != '-' || text[kParentAt - 1] != '-' ||
      text[kFlagsAt - 1] != '-') {
    return std::nullopt;
  }
  const std::string_view version = text.substr(0, 2);
  const bool may_go_on = version != "00" && text.substr(kLength).starts_with('-');
  if (!IsHex(version) || version == "ff" || (text.size() > kLength && !may_go_on)) {
    return std::nullopt;
  }
  const std::string_view flags = text.substr(kFlagsAt, 2);
  // The lowest bit of the flags is set in the odd digits.
  const bool is_sampled = std::string_view("13579bdf").find(flags.back()) != std::string_view::npos;
  const TraceContext trace{text.substr(kTraceAt, 32), text.substr(kParentAt, 16), is_sampled};
  if (!IsId(trace.trace_id) || !IsId(trace.parent_id) || !IsHex(flags)) {
    return std::nullopt;
  }
  return trace;
}

}  // namespace

std::optional<TraceContext> TraceOf(const Request& request) {
  std::optional<std::string_view> found;
  for (const HeaderField& field : request.headers()) {
    if (EqualsIgnoreCase(field.name, "traceparent")) {
      if (found) {
        return std::nullopt;
      }
      found = field.value;
    }
  }
  return found ? ParseTraceParent(*found) : std::nullopt;
}

std::string_view TraceIdOf(const Request& request) {
  const std::optional<TraceContext> trace = TraceOf(request);
  return GUARD("http.trace-of-caller", !trace) ? request.id() : trace->trace_id;
}

}  // namespace api
