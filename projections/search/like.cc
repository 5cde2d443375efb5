#include "projections/search/like.h"

#include <algorithm>
#include <cstring>
#include <optional>

namespace projections::search {
namespace {

// What is between two `%`: characters, some of which may be any.
struct Segment {
  std::string text;      // An `_` stands as NUL, which no stored text has.
  bool has_any = false;  // Whether there is one.
};

// Takes a segment off the front of the pattern; stops before `%`.
Segment TakeSegment(std::string_view& pattern) {
  Segment segment;
  while (!pattern.empty() && pattern.front() != '%') {
    if (pattern.front() == '_') {
      segment.text += '\0';
      segment.has_any = true;
    } else {
      pattern.remove_prefix(pattern.front() == '\\' && pattern.size() > 1 ? 1 : 0);
      segment.text += pattern.front();
    }
    pattern.remove_prefix(1);
  }
  return segment;
}

bool IsContinuation(char c) {
  return (static_cast<unsigned char>(c) & 0xC0) == 0x80;
}

// How many bytes of `text` the segment takes at its front; empty when it does not fit there.
std::optional<std::size_t> FitsAt(std::string_view text, const Segment& segment) {
  std::size_t at = 0;
  for (const char wanted : segment.text) {
    if (at >= text.size() || (wanted != '\0' && text[at] != wanted)) {
      return std::nullopt;
    }
    ++at;
    while (wanted == '\0' && at < text.size() && IsContinuation(text[at])) {
      ++at;
    }
  }
  return at;
}

// Cuts `text` off behind the first place where the segment fits. The first one is best: it leaves
// most for the segments that follow.
bool CutBehind(std::string_view& text, const Segment& segment) {
  if (!segment.has_any) {
    // memmem is linear, other searches are not.
    const void* found = memmem(text.data(), text.size(), segment.text.data(), segment.text.size());
    if (found == nullptr) {
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) +
                       segment.text.size());
    return true;
  }
  for (; !text.empty(); text.remove_prefix(1)) {
    if (IsContinuation(text.front())) {
      continue;
    }
    if (const auto length = FitsAt(text, segment)) {
      text.remove_prefix(*length);
      return true;
    }
  }
  return false;
}

// Whether the end of `text` fits the segment.
bool EndsWith(std::string_view text, const Segment& segment) {
  // From behind: as many characters as it has bytes or any.
  std::size_t at = text.size();
  for (auto wanted = segment.text.rbegin(); wanted != segment.text.rend(); ++wanted) {
    if (at == 0) {
      return false;
    }
    --at;
    while (*wanted == '\0' && at > 0 && IsContinuation(text[at])) {
      --at;
    }
    if (*wanted != '\0' && text[at] != *wanted) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool IsPattern(std::string_view pattern) {
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] == '\\') {
      ++at;
      if (at == pattern.size()) {
        return false;
      }
    }
  }
  return true;
}

bool IsLike(std::string_view text, std::string_view pattern) {
  const Segment head = TakeSegment(pattern);
  const auto length = FitsAt(text, head);
  if (!length) {
    return false;
  }
  text.remove_prefix(*length);
  if (pattern.empty()) {
    return text.empty();
  }
  while (true) {
    pattern.remove_prefix(1);  // `%`
    const Segment segment = TakeSegment(pattern);
    if (pattern.empty()) {
      return EndsWith(text, segment);
    }
    if (!segment.text.empty() && !CutBehind(text, segment)) {
      return false;
    }
  }
}

std::string LowerAscii(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

}  // namespace projections::search
