// Texts in what projections save and take their digests over: a length of 32 bits and the bytes.
//
// Thread-safe; never blocks.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace projections {

void AppendText(std::string_view text, std::string& bytes);

// Takes a text off the start of `bytes`; empty, and nothing taken, when it is not whole.
std::optional<std::string> TakeText(std::string_view& bytes);

}  // namespace projections
