// How log lines look: set once at start by a main file; engine/base/logging.h writes them.
//
//   {"timestamp":"...","level":"warn","message":"m","component":"api","attempt":3}
//   2026-11-30T15:08:32.000125Z WARN [api] [1.0] [host] m attempt=3
//
// Thread-safe; never blocks.

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/logging.h"

namespace engine {

// Stands where a secret was.
inline constexpr std::string_view kRedacted = "***REDACTED***";

struct LogFormat {
  bool is_text = false;  // Else one JSON object a line.
  // Of every line. Empty ones are left out of JSON.
  std::string component = {};
  std::string version = {};
  std::string hostname = {};
  // Texts of fields whose name contains one of these, whatever the case, are shown as kRedacted.
  // In lower case.
  std::vector<std::string> masked_fields = {};
};

// For a main file, once: each is kept until the process ends.
void SetLogFormat(LogFormat format);

// What Log writes, for fields whose number is not known beforehand.
void LogFields(Severity severity, std::string_view message, std::span<const LogField> fields);

// Whether lines of this severity are written: for those whose fields cost something to make.
bool IsLogged(Severity severity);

// Whether `name` contains one of `words` (in lower case), whatever the case of its letters.
bool ContainsWord(std::string_view name, std::span<const std::string> words);

}  // namespace engine
