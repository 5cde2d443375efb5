// TokenCursor: where in the words of a search its parser is.
//
// One thread; never blocks.

#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/status/statusor.h>

#include "projections/search/bind.h"
#include "projections/search/lexer.h"

namespace projections::search {

class TokenCursor {
 public:
  // REQUIRES: the last one is kEnd, as of Lex.
  explicit TokenCursor(std::vector<Token> tokens) : tokens_(std::move(tokens)) {}

  const Token& Peek() const { return tokens_[at_]; }
  // REQUIRES: Peek() is not the end.
  const Token& PeekBehind() const { return tokens_[at_ + 1]; }
  bool PeekIs(TokenKind kind, std::string_view text) const { return Peek().Is(kind, text); }

  // Goes over so many tokens. REQUIRES: none of them is the end.
  void Skip(std::size_t count = 1) { at_ += count; }
  // Goes over the next one if it is that; else returns false.
  bool Take(TokenKind kind, std::string_view text);
  bool TakeKeyword(std::string_view text) { return Take(TokenKind::kKeyword, text); }
  bool TakeSymbol(std::string_view text) { return Take(TokenKind::kSymbol, text); }

  // A value, with its sign; else Unexpected().
  absl::StatusOr<Literal> TakeLiteral();

  // What is wrong with the next token.
  absl::Status Unexpected() const;

 private:
  absl::StatusOr<Literal> LiteralOf(const Token& token, bool is_negative) const;

  const std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace projections::search
