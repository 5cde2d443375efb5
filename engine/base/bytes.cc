#include "engine/base/bytes.h"

#include <bit>
#include <cstring>

namespace engine {
namespace {

static_assert(std::endian::native == std::endian::little, "integers are copied as they lie");

template <class Integer>
void Append(Integer value, std::string& out) {
  char bytes[sizeof(value)];
  std::memcpy(bytes, &value, sizeof(value));
  out.append(bytes, sizeof(bytes));
}

template <class Integer>
Integer Read(std::string_view bytes) {
  Integer value = 0;
  std::memcpy(&value, bytes.data(), sizeof(value));
  return value;
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  if (c >= 'a' && c <= 'f') {
    return c - 'a' + 10;
  }
  if (c >= 'A' && c <= 'F') {
    return c - 'A' + 10;
  }
  return -1;
}

bool InRange(unsigned char c, unsigned low, unsigned high) {
  return c >= low && c <= high;
}

// The second byte narrows what the first allows: no overlong forms, no surrogates, no end.
bool SecondByteFits(unsigned char first, unsigned char second) {
  switch (first) {
    case 0xE0:
      return InRange(second, 0xA0, 0xBF);
    case 0xED:
      return InRange(second, 0x80, 0x9F);
    case 0xF0:
      return InRange(second, 0x90, 0xBF);
    case 0xF4:
      return InRange(second, 0x80, 0x8F);
    default:
      return InRange(second, 0x80, 0xBF);
  }
}

}  // namespace

void AppendU8(std::uint8_t value, std::string& out) {
  out.push_back(static_cast<char>(value));
}
void AppendU16(std::uint16_t value, std::string& out) {
  Append(value, out);
}
void AppendU32(std::uint32_t value, std::string& out) {
  Append(value, out);
}
void AppendU64(std::uint64_t value, std::string& out) {
  Append(value, out);
}

std::uint16_t ReadU16(std::string_view bytes) {
  return Read<std::uint16_t>(bytes);
}
std::uint32_t ReadU32(std::string_view bytes) {
  return Read<std::uint32_t>(bytes);
}
std::uint64_t ReadU64(std::string_view bytes) {
  return Read<std::uint64_t>(bytes);
}

std::string ToHex(std::string_view bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    text.push_back(kHex[(c >> 4) & 0xF]);
    text.push_back(kHex[c & 0xF]);
  }
  return text;
}

std::string ToHex(std::uint64_t value) {
  std::string big_endian;
  for (int shift = 56; shift >= 0; shift -= 8) {
    big_endian.push_back(static_cast<char>(value >> shift));
  }
  return ToHex(big_endian);
}

std::optional<std::string> FromHex(std::string_view text) {
  if (text.size() % 2 != 0) {
    return std::nullopt;
  }
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int high = HexValue(text[i]);
    const int low = HexValue(text[i + 1]);
    if (high < 0 || low < 0) {
      return std::nullopt;
    }
    bytes.push_back(static_cast<char>(high * 16 + low));
  }
  return bytes;
}

std::size_t Utf8SequenceLength(std::string_view text) {
  if (text.empty()) {
    return 0;
  }
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) {
    return 1;
  }
  const std::size_t length = InRange(first, 0xC2, 0xDF)   ? 2
                             : InRange(first, 0xE0, 0xEF) ? 3
                             : InRange(first, 0xF0, 0xF4) ? 4
                                                          : 0;
  if (length == 0 || text.size() < length || !SecondByteFits(first, byte(1))) {
    return 0;
  }
  for (std::size_t i = 2; i < length; ++i) {
    if (!InRange(byte(i), 0x80, 0xBF)) {
      return 0;
    }
  }
  return length;
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = Utf8SequenceLength(text);
    if (length == 0) {
      return false;
    }
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace engine
