#include "engine/audit_text.h"

#include <algorithm>
#include <charconv>

#include "engine/base/bytes.h"

namespace engine {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";         // U+FFFD.
constexpr std::string_view kLineSeparator = "\xE2\x80\xA8";       // U+2028.
constexpr std::string_view kParagraphSeparator = "\xE2\x80\xA9";  // U+2029.

// How `character`, one UTF-8 sequence, is written when not as itself; empty otherwise. HTML's
// special characters and the line separators are escaped, as Go's encoder does.
std::string Escape(std::string_view character) {
  if (character == kLineSeparator) {
    return "\\u2028";
  }
  if (character == kParagraphSeparator) {
    return "\\u2029";
  }
  switch (const char c = character.front()) {
    case '"':
      return "\\\"";
    case '\\':
      return "\\\\";
    case '\b':
      return "\\b";
    case '\f':
      return "\\f";
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
    case '<':
    case '>':
    case '&':
      return "\\u00" + ToHex(character);
    default:
      return static_cast<unsigned char>(c) < 0x20 ? "\\u00" + ToHex(character) : std::string();
  }
}

// Bytes that are themselves in both directions; almost all are.
bool IsPlain(char c) {
  return c >= 0x20 && c < 0x7F && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
}

std::string_view PlainPrefix(std::string_view text) {
  const auto* end = std::ranges::find_if_not(text, IsPlain);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

}  // namespace

std::string ValidAuditText(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = Utf8SequenceLength(text);
    valid += length == 0 ? kReplacement : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return valid;
}

void AppendAuditText(std::string_view text, std::string& out) {
  out.push_back('"');
  while (!text.empty()) {
    if (const std::string_view plain = PlainPrefix(text); !plain.empty()) {
      out += plain;
      text.remove_prefix(plain.size());
      continue;
    }
    const std::size_t length = Utf8SequenceLength(text);
    const std::string_view character = length == 0 ? kReplacement : text.substr(0, length);
    const std::string escaped = Escape(character);
    out += escaped.empty() ? character : escaped;
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  out.push_back('"');
}

bool AuditReader::Skip(std::string_view expected) {
  if (!rest_.starts_with(expected)) {
    return false;
  }
  rest_.remove_prefix(expected.size());
  return true;
}

std::optional<std::uint64_t> AuditReader::Number() {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
  if (error != std::errc() || (rest_.front() == '0' && end != rest_.data() + 1)) {
    return std::nullopt;
  }
  rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
  return value;
}

std::optional<std::string> AuditReader::Text() {
  if (!Skip("\"")) {
    return std::nullopt;
  }
  std::string text;
  while (!Skip("\"")) {
    std::string_view piece = PlainPrefix(rest_);
    if (!piece.empty()) {
      rest_.remove_prefix(piece.size());
    } else {
      piece = Character();
    }
    if (piece.empty()) {
      return std::nullopt;
    }
    text += piece;
  }
  return text;
}

// The next character of a string, unescaped; empty when it is not written canonically.
std::string_view AuditReader::Character() {
  if (Skip("\\")) {
    return Escaped();
  }
  const std::string_view character = rest_.substr(0, Utf8SequenceLength(rest_));
  if (character.empty() || !Escape(character).empty()) {
    return {};
  }
  rest_.remove_prefix(character.size());
  return character;
}

// What was escaped, after its backslash.
std::string_view AuditReader::Escaped() {
  struct Spelling {
    std::string_view escape;
    std::string_view character;
  };
  static constexpr Spelling kSpellings[] = {
      {"\"", "\""},
      {"\\", "\\"},
      {"b", "\b"},
      {"f", "\f"},
      {"n", "\n"},
      {"r", "\r"},
      {"t", "\t"},
      {"u003c", "<"},
      {"u003e", ">"},
      {"u0026", "&"},
      {"u0008", "\b"},
      {"u000c", "\f"},
      {"u2028", kLineSeparator},
      {"u2029", kParagraphSeparator},
  };
  for (const Spelling& spelling : kSpellings) {
    if (Skip(spelling.escape)) {
      return spelling.character;
    }
  }
  return ControlByte();
}

// `u00xx` for the control bytes that have no name.
std::string_view AuditReader::ControlByte() {
  static constexpr char kBytes[] =
      "\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17"
      "\20\21\22\23\24\25\26\27\30\31\32\33\34\35\36\37";
  for (std::size_t i = 0; i < sizeof(kBytes) - 1; ++i) {
    const std::string_view byte(kBytes + i, 1);
    const std::string escape = Escape(byte);
    if (escape.size() == 6 && Skip(std::string_view(escape).substr(1))) {
      return byte;
    }
  }
  return {};
}

}  // namespace engine
