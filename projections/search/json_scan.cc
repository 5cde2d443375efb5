#include "projections/search/json_scan.h"

#include <charconv>
#include <cstdint>

#include "engine/base/check.h"

namespace projections::search {
namespace {

// How many bytes the string at the front takes, with its quotes. Specs have long ones, so the
// quotes are what is looked for.
std::size_t StringLength(std::string_view text) {
  std::size_t quote = 0;
  while (true) {
    quote = text.find('"', quote + 1);
    if (quote == std::string_view::npos) {
      return text.size();
    }
    // Behind an odd number of backslashes it is a part of the string.
    std::size_t before = quote;
    while (before > 1 && text[before - 1] == '\\') {
      --before;
    }
    if ((quote - before) % 2 == 0) {
      return quote + 1;
    }
  }
}

// The same of an object or an array.
std::size_t ContainerLength(std::string_view text) {
  std::size_t depth = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    switch (text[at]) {
      case '"':
        at += StringLength(text.substr(at));
        continue;
      case '[':
      case '{':
        ++depth;
        break;
      case ']':
      case '}':
        if (--depth == 0) {
          return at + 1;
        }
        break;
      default:
        break;
    }
    ++at;
  }
  return text.size();
}

std::size_t WordLength(std::string_view text) {
  const std::size_t end = text.find_first_of(",]}");
  return end == std::string_view::npos ? text.size() : end;
}

// Appends what the escape at `at` (behind the backslash) says; returns where it ends.
std::size_t AppendEscape(std::string_view text, std::size_t at, std::string& out) {
  switch (text[at]) {
    case 'b':
      out += '\b';
      break;
    case 'f':
      out += '\f';
      break;
    case 'n':
      out += '\n';
      break;
    case 'r':
      out += '\r';
      break;
    case 't':
      out += '\t';
      break;
    case 'u': {
      std::uint32_t code = 0;
      const std::string_view hex = text.substr(at + 1, 4);
      std::from_chars(hex.data(), hex.data() + hex.size(), code, 16);
      out += static_cast<char>(code & 0x7F);  // The canonical form escapes controls only.
      return at + 1 + hex.size();
    }
    default:
      out += text[at];
  }
  return at + 1;
}

}  // namespace

JsonSlice ValueAt(std::string_view text) {
  if (text.empty()) {
    return {};
  }
  switch (text.front()) {
    case '{':
      return {JsonKind::kObject, text.substr(0, ContainerLength(text))};
    case '[':
      return {JsonKind::kArray, text.substr(0, ContainerLength(text))};
    case '"':
      return {JsonKind::kString, text.substr(0, StringLength(text))};
    case 'n':
      return {JsonKind::kNull, text.substr(0, WordLength(text))};
    case 't':
      return {JsonKind::kTrue, text.substr(0, WordLength(text))};
    case 'f':
      return {JsonKind::kFalse, text.substr(0, WordLength(text))};
    default:
      return {JsonKind::kNumber, text.substr(0, WordLength(text))};
  }
}

JsonMembers::JsonMembers(std::string_view container) {
  if (container.starts_with('{') || container.starts_with('[')) {
    is_object_ = container.front() == '{';
    rest_ = container.substr(1);
  }
}

bool JsonMembers::Next() {
  if (rest_.starts_with(',')) {
    rest_.remove_prefix(1);
  }
  if (rest_.empty() || rest_.front() == '}' || rest_.front() == ']') {
    return false;
  }
  if (is_object_) {
    const std::size_t length = StringLength(rest_);
    if (length < 2 || length >= rest_.size()) {
      return false;
    }
    key_ = rest_.substr(1, length - 2);
    rest_.remove_prefix(length + 1);  // And the colon.
  }
  value_ = ValueAt(rest_);
  rest_.remove_prefix(value_.text.size());
  return !value_.text.empty();
}

JsonSlice FindMember(std::string_view object, std::span<const std::string> path) {
  JsonSlice found{JsonKind::kObject, object};
  for (const std::string& key : path) {
    if (found.kind != JsonKind::kObject) {
      return {};
    }
    JsonMembers member(found.text);
    found = {};
    while (member.Next()) {
      if (member.key() == key) {
        found = member.value();
        break;
      }
    }
  }
  return found;
}

std::string_view TextOf(const JsonSlice& value, std::string& scratch) {
  ENGINE_CHECK(value.kind == JsonKind::kString);
  if (value.text.size() < 2) {
    return {};
  }
  const std::string_view inner = value.text.substr(1, value.text.size() - 2);
  std::size_t escape = inner.find('\\');
  if (escape == std::string_view::npos) {
    return inner;
  }
  scratch.assign(inner.substr(0, escape));
  while (escape + 1 < inner.size()) {
    const std::size_t behind = AppendEscape(inner, escape + 1, scratch);
    escape = inner.find('\\', behind);
    scratch += inner.substr(behind, escape == std::string_view::npos ? escape : escape - behind);
    if (escape == std::string_view::npos) {
      break;
    }
  }
  return scratch;
}

}  // namespace projections::search
