// Characters that are written by their number, `\u00e9` say, in expressions and in JSON.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <cstdint>
#include <string>

namespace projections::cel {

// Appends a character as UTF-8. REQUIRES: `code` is at most 0x10FFFF.
void AppendUtf8(std::uint32_t code, std::string& out);

}  // namespace projections::cel
