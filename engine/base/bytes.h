// Fixed little-endian integers, hexadecimal text, UTF-8: how bytes are read and written.
//
// Every on-disk and hashed layout of the project is built from these functions, so that it does
// not depend on the machine. Thread-safe; never blocks.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace engine {

void AppendU8(std::uint8_t value, std::string& out);
void AppendU16(std::uint16_t value, std::string& out);
void AppendU32(std::uint32_t value, std::string& out);
void AppendU64(std::uint64_t value, std::string& out);

// REQUIRES: `bytes` has that many bytes from its start.
std::uint16_t ReadU16(std::string_view bytes);
std::uint32_t ReadU32(std::string_view bytes);
std::uint64_t ReadU64(std::string_view bytes);

// Lower case, two digits a byte.
std::string ToHex(std::string_view bytes);
// 16 digits, most significant first: how checksums and digests are shown.
std::string ToHex(std::uint64_t value);
// Empty when `text` has an odd length or another character.
std::optional<std::string> FromHex(std::string_view text);

// Length in bytes of the well-formed UTF-8 sequence (RFC 3629: no surrogates, no overlong forms,
// at most U+10FFFF) at the start of `text`; 0 when there is none.
std::size_t Utf8SequenceLength(std::string_view text);
bool IsUtf8(std::string_view text);

}  // namespace engine
