// The words of a search (docs/resources.md, Search).
//
// Pure functions; thread-safe, never block.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "projections/search/decimal.h"

namespace projections::search {

enum class TokenKind {
  kEnd,
  kName,     // A field.
  kKeyword,  // In lower case: `and`, `or`, ...
  kText,     // In quotes, escapes resolved.
  kNumber,
  kTime,    // Without quotes: YYYY-MM-DD, or an RFC 3339 time.
  kSymbol,  // `=`, `<=`, `(`, ...
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text = {};  // As it is written, but for kKeyword and kText.
  Decimal number = {};
  std::size_t offset = 0;  // Bytes from the start.
  bool Is(TokenKind a_kind, std::string_view a_text) const {
    return kind == a_kind && text == a_text;
  }
};

// What is wrong with a search: kInvalidArgument, with the place in the text (from 1 on).
absl::Status WrongAt(std::size_t offset, std::string_view what);

// All words of `text`; kEnd is the last one. Refuses with WrongAt.
absl::StatusOr<std::vector<Token>> Lex(std::string_view text);

}  // namespace projections::search
