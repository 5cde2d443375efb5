// Tokens of a CEL expression.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "projections/cel/value.h"

namespace projections::cel {

struct Token {
  enum class Kind { kEnd, kName, kLiteral, kSymbol };

  Kind kind = Kind::kEnd;
  std::string text;  // Of names and symbols.
  Value literal;
  std::size_t offset = 0;  // Bytes from the start.

  bool Is(std::string_view symbol) const { return kind == Kind::kSymbol && text == symbol; }
};

// The last token is kEnd. Fails with kInvalidArgument, naming the offset: a text that does not end,
// an unknown character or escape, a number out of range, a literal of bytes.
absl::StatusOr<std::vector<Token>> Tokens(std::string_view source);

absl::Status ErrorAt(std::size_t offset, std::string_view what);

}  // namespace projections::cel
