// Base64url without padding (RFC 7515, 2), as tokens and their keys are written.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace api {

// Empty when it is anything else: padding, line breaks, the other alphabet, or bits at the end
// that no encoder sets, so that each sequence of bytes has exactly one text.
std::optional<std::string> DecodeBase64Url(std::string_view text);

std::string EncodeBase64Url(std::string_view bytes);

}  // namespace api
