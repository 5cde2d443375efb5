// One log line, between engine/base/logging.cc, which writes it, and log_format.cc, which makes it.

#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/base/logging.h"

namespace engine {

// Without a newline, in the format that was set.
std::string FormatLogLine(Severity severity, std::string_view message,
                          std::span<const LogField> fields);

}  // namespace engine
