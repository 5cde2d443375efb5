#include "projections/cel/lexer.h"

#include <array>
#include <charconv>
#include <cstdlib>

#include <absl/strings/str_format.h>

#include "engine/base/status_macros.h"
#include "projections/cel/utf8.h"

namespace projections::cel {
namespace {

// Longest first where one begins another.
constexpr auto kSymbols = std::to_array<std::string_view>(
    {".?", "[?", "&&", "||", "==", "!=", "<=", ">=", "!", "-", "+", "*", "/",
     "%",  "?",  ":",  ",",  ".",  "(",  ")",  "[",  "]", "{", "}", "<", ">"});

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

bool StartsName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  absl::StatusOr<std::vector<Token>> Run() {
    while (true) {
      SkipSpace();
      if (at_ == source_.size()) {
        break;
      }
      ASSIGN_OR_RETURN(Token token, Next());
      tokens_.push_back(std::move(token));
    }
    Token end;
    end.offset = at_;
    tokens_.push_back(std::move(end));
    return std::move(tokens_);
  }

 private:
  std::string_view Rest() const { return source_.substr(at_); }
  char Peek(std::size_t ahead = 0) const {
    return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0';
  }

  void SkipSpace() {
    while (at_ < source_.size()) {
      if (Rest().starts_with("//")) {
        at_ = std::min(source_.find('\n', at_), source_.size());
      } else if (std::string_view(" \t\r\n\f").find(source_[at_]) != std::string_view::npos) {
        ++at_;
      } else {
        return;
      }
    }
  }

  absl::StatusOr<Token> Next() {
    Token token;
    token.offset = at_;
    if (IsDigit(Peek()) || (Peek() == '.' && IsDigit(Peek(1)))) {
      token.kind = Token::Kind::kLiteral;
      ASSIGN_OR_RETURN(token.literal, Number());
      return token;
    }
    const bool raw = (Peek() == 'r' || Peek() == 'R') && (Peek(1) == '"' || Peek(1) == '\'');
    if (raw || Peek() == '"' || Peek() == '\'') {
      token.kind = Token::Kind::kLiteral;
      at_ += raw ? 1 : 0;
      ASSIGN_OR_RETURN(std::string text, Text(raw));
      token.literal = Value(std::move(text));
      return token;
    }
    if ((Peek() == 'b' || Peek() == 'B') && (Peek(1) == '"' || Peek(1) == '\'')) {
      return ErrorAt(at_, "literals of bytes are not supported");
    }
    if (StartsName(Peek())) {
      return Name();
    }
    for (const std::string_view symbol : kSymbols) {
      if (Rest().starts_with(symbol)) {
        token.kind = Token::Kind::kSymbol;
        token.text = symbol;
        at_ += symbol.size();
        return token;
      }
    }
    return ErrorAt(at_, "an unknown character");
  }

  // Names of values are literals; `in` is an operator.
  absl::StatusOr<Token> Name() {
    Token token;
    token.offset = at_;
    const std::size_t start = at_;
    while (StartsName(Peek()) || IsDigit(Peek())) {
      ++at_;
    }
    token.text = source_.substr(start, at_ - start);
    token.kind = Token::Kind::kName;
    if (token.text == "in") {
      token.kind = Token::Kind::kSymbol;
    } else if (token.text == "true" || token.text == "false") {
      token.kind = Token::Kind::kLiteral;
      token.literal = Value(token.text == "true");
    } else if (token.text == "null") {
      token.kind = Token::Kind::kLiteral;
    }
    return token;
  }

  absl::StatusOr<Value> Number() {
    const std::size_t start = at_;
    const bool hexadecimal = Rest().starts_with("0x") || Rest().starts_with("0X");
    if (hexadecimal) {
      at_ += 2;
      while (std::isxdigit(static_cast<unsigned char>(Peek())) != 0) {
        ++at_;
      }
      return Whole(start, source_.substr(start + 2, at_ - start - 2), 16);
    }
    bool is_real = false;
    while (IsDigit(Peek())) {
      ++at_;
    }
    if (Peek() == '.' && IsDigit(Peek(1))) {
      is_real = true;
      ++at_;
      while (IsDigit(Peek())) {
        ++at_;
      }
    }
    if (Peek() == 'e' || Peek() == 'E') {
      const std::size_t sign = Peek(1) == '+' || Peek(1) == '-' ? 1 : 0;
      if (IsDigit(Peek(1 + sign))) {
        is_real = true;
        at_ += 1 + sign;
        while (IsDigit(Peek())) {
          ++at_;
        }
      }
    }
    const std::string_view digits = source_.substr(start, at_ - start);
    return is_real ? Value(std::strtod(std::string(digits).c_str(), nullptr))
                   : Whole(start, digits, 10);
  }

  absl::StatusOr<Value> Whole(std::size_t start, std::string_view digits, int base) {
    std::uint64_t number = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
    if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
      return ErrorAt(start, "a number out of range");
    }
    if (Peek() == 'u' || Peek() == 'U') {
      ++at_;
      return Value(number);
    }
    // 2^63 itself is read as a negative number's digits: the parser negates it.
    if (number > std::uint64_t{1} << 63) {
      return ErrorAt(start, "a number out of range");
    }
    if (number == std::uint64_t{1} << 63 && (tokens_.empty() || !tokens_.back().Is("-"))) {
      return ErrorAt(start, "a number out of range");
    }
    return Value(static_cast<std::int64_t>(number));
  }

  absl::StatusOr<std::string> Text(bool raw) {
    const std::size_t start = at_;
    const std::string one(1, Peek());
    const std::string three = one + one + one;
    const std::string quote = Rest().starts_with(three) ? three : one;
    at_ += quote.size();
    std::string text;
    while (!Rest().starts_with(quote)) {
      if (at_ == source_.size() || (quote.size() == 1 && Peek() == '\n')) {
        return ErrorAt(start, "a text that does not end");
      }
      if (Peek() == '\\' && !raw) {
        RETURN_IF_ERROR(Escape(text));
      } else {
        text += source_[at_++];
      }
    }
    at_ += quote.size();
    return text;
  }

  absl::Status Escape(std::string& text) {
    static constexpr std::string_view kEscapes = "abfnrtv\\?\"'`";
    static constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\?\"'`";
    const char c = Peek(1);
    const std::size_t start = at_;
    at_ += 2;
    if (const std::size_t index = kEscapes.find(c); c != '\0' && index != std::string_view::npos) {
      text += kMeanings[index];
      return absl::OkStatus();
    }
    std::size_t digits = c == 'x' || c == 'X' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : 0;
    int base = 16;
    if (c >= '0' && c <= '3') {
      digits = 3;
      base = 8;
      --at_;
    }
    std::uint32_t code = 0;
    const std::string_view number = source_.substr(std::min(at_, source_.size()), digits);
    if (digits == 0 || number.size() < digits ||
        std::from_chars(number.data(), number.data() + digits, code, base).ptr !=
            number.data() + digits ||
        code > 0x10FFFF || (code & 0xFFFFF800) == 0xD800) {
      return ErrorAt(start, "an escape that means nothing");
    }
    at_ += digits;
    AppendUtf8(code, text);
    return absl::OkStatus();
  }

  const std::string_view source_;
  std::size_t at_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

absl::Status ErrorAt(std::size_t offset, std::string_view what) {
  return absl::InvalidArgumentError(absl::StrFormat("at byte %d: %s", offset, what));
}

absl::StatusOr<std::vector<Token>> Tokens(std::string_view source) {
  return Lexer(source).Run();
}

}  // namespace projections::cel
