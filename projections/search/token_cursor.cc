#include "projections/search/token_cursor.h"

#include <algorithm>
#include <array>

#include <absl/strings/str_format.h>

#include "engine/base/status_macros.h"

namespace projections::search {
namespace {

// The language has them; here they mean nothing.
constexpr std::array<std::string_view, 8> kUnknown = {"~=", "~!", "~", "+", "-", "*", "/", "%"};

}  // namespace

bool TokenCursor::Take(TokenKind kind, std::string_view text) {
  if (!PeekIs(kind, text)) {
    return false;
  }
  ++at_;
  return true;
}

absl::Status TokenCursor::Unexpected() const {
  const Token& token = Peek();
  if (token.kind == TokenKind::kEnd) {
    return WrongAt(token.offset, "it ends too early");
  }
  if (token.kind == TokenKind::kSymbol &&
      std::ranges::find(kUnknown, token.text) != kUnknown.end()) {
    return WrongAt(token.offset, absl::StrFormat("'%s' is not supported", token.text));
  }
  return WrongAt(token.offset, absl::StrFormat("'%s' is not expected here", token.text));
}

absl::StatusOr<Literal> TokenCursor::TakeLiteral() {
  const bool is_negative = TakeSymbol("-");
  if (is_negative && Peek().kind != TokenKind::kNumber) {
    return Unexpected();
  }
  ASSIGN_OR_RETURN(Literal literal, LiteralOf(Peek(), is_negative));
  ++at_;
  return literal;
}

absl::StatusOr<Literal> TokenCursor::LiteralOf(const Token& token, bool is_negative) const {
  Literal literal{.text = token.text, .offset = token.offset};
  switch (token.kind) {
    case TokenKind::kText:
      return literal;
    case TokenKind::kTime:
      literal.kind = LiteralKind::kTime;
      return literal;
    case TokenKind::kNumber:
      literal.kind = LiteralKind::kNumber;
      literal.number = token.number;
      if (is_negative) {
        literal.text = '-' + token.text;
        literal.number.Negate();
      }
      return literal;
    case TokenKind::kKeyword:
      if (token.text == "null" || token.text == "true" || token.text == "false") {
        literal.kind = token.text == "null" ? LiteralKind::kNull : LiteralKind::kBool;
        return literal;
      }
      return Unexpected();
    default:
      return Unexpected();
  }
}

}  // namespace projections::search
