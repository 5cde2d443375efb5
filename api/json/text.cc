#include "api/json/text.h"

#include <array>
#include <cstddef>

#include "engine/base/bytes.h"

namespace api {
namespace {

constexpr bool IsPlain(unsigned char c) {
  return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

constexpr std::array<bool, 256> MakePlain() {
  std::array<bool, 256> plain{};
  for (std::size_t c = 0; c < plain.size(); ++c) {
    plain[c] = IsPlain(static_cast<unsigned char>(c));
  }
  return plain;
}

constexpr std::array<bool, 256> kPlain = MakePlain();

void AppendEscape(char c, std::string& out) {
  constexpr std::string_view kShort = "\b\t\n\f\r\"\\";
  constexpr std::string_view kLetters = "btnfr\"\\";
  out.push_back('\\');
  if (const std::size_t at = kShort.find(c); at != std::string_view::npos) {
    out.push_back(kLetters[at]);
    return;
  }
  constexpr std::string_view kHex = "0123456789abcdef";
  out += "u00";
  out.push_back(kHex[static_cast<unsigned char>(c) >> 4]);
  out.push_back(kHex[static_cast<unsigned char>(c) & 0x0F]);
}

}  // namespace

void AppendJsonText(std::string_view text, std::string& out) {
  out.push_back('"');
  std::size_t at = 0;
  while (at < text.size()) {
    // Nearly all text is plain: copy it in runs.
    const std::size_t start = at;
    while (at < text.size() && kPlain[static_cast<unsigned char>(text[at])]) {
      ++at;
    }
    out.append(text.substr(start, at - start));
    if (at == text.size()) {
      break;
    }
    if (static_cast<unsigned char>(text[at]) < 0x80) {
      AppendEscape(text[at], out);
      ++at;
      continue;
    }
    const std::size_t length = engine::Utf8SequenceLength(text.substr(at));
    out.append(length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(at, length));
    at += length == 0 ? 1 : length;
  }
  out.push_back('"');
}

}  // namespace api
