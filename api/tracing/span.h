// Span: one piece of work of a trace, as a collector of traces wants to know it.
//
// Plain data; thread-compatible.

#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/base/clock.h"

namespace api {

// Names are those of OpenTelemetry's semantic conventions.
using Attribute = std::pair<std::string, std::variant<std::string, std::int64_t>>;

struct Span {
  std::string trace_id = {};   // 32 hexadecimal digits in lower case.
  std::string span_id = {};    // 16 of them.
  std::string parent_id = {};  // As span_id; empty: the first of its trace.
  std::string trace_state = {};
  std::string name = {};
  engine::Timestamp start = {};
  engine::Duration duration = {};
  std::vector<Attribute> attributes = {};
  bool is_error = false;
};

}  // namespace api
