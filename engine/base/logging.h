// Structured logs: one JSON object a line on standard error.
//
//   Log(Severity::kWarning, "database not reachable", {{"attempt", 3}, {"of", 10}});
//   {"timestamp":"2026-11-30T15:08:32.000125Z","level":"warn","message":"database not reachable",
//    "attempt":3,"of":10}
//
// Thread-safe; a line is written with one call and never mixed with another. May block on the
// descriptor as any write does. Never log secrets: a field is printed as given.

#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>

namespace engine {

enum class Severity { kDebug, kInfo, kWarning, kError };

struct LogField {
  std::string_view key;
  std::variant<std::string, std::int64_t, std::uint64_t, double, bool> value;

  LogField(std::string_view k, std::string v) : key(k), value(std::move(v)) {}
  LogField(std::string_view k, std::string_view v) : key(k), value(std::string(v)) {}
  LogField(std::string_view k, const char* v) : key(k), value(std::string(v)) {}
  LogField(std::string_view k, bool v) : key(k), value(v) {}
  LogField(std::string_view k, double v) : key(k), value(v) {}
  template <std::signed_integral T>
  LogField(std::string_view k, T v) : key(k), value(static_cast<std::int64_t>(v)) {}
  template <std::unsigned_integral T>
    requires(!std::same_as<T, bool>)
  LogField(std::string_view k, T v) : key(k), value(static_cast<std::uint64_t>(v)) {}
};

void Log(Severity severity, std::string_view message, std::initializer_list<LogField> fields = {});

// Lines below `severity` are dropped. kInfo at start.
void SetLogLevel(Severity severity);

// Replaces where lines go (tests, the server's asynchronous sink). The line has no newline.
// An empty function restores standard error. REQUIRES: `sink` is thread-safe.
void SetLogSink(std::function<void(Severity, std::string_view line)> sink);

// Appends `text` to `out` as a JSON string with its quotes. Bytes that are not UTF-8 become
// U+FFFD, so that a log line is always valid JSON.
void AppendJsonString(std::string_view text, std::string& out);

}  // namespace engine
