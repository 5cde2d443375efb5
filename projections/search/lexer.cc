#include "projections/search/lexer.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/status_macros.h"

namespace projections::search {
namespace {

constexpr std::array<std::string_view, 15> kKeywords = {"and",   "or",   "not",   "in",      "is",
                                                        "null",  "like", "ilike", "between", "true",
                                                        "false", "len",  "any",   "all",     "sum"};
// Longer ones first.
constexpr std::array<std::string_view, 21> kSymbols = {"==", "!=", "<>", "<=", ">=", "~=", "~!",
                                                       "=",  "<",  ">",  "+",  "-",  "*",  "/",
                                                       "%",  "(",  ")",  "[",  "]",  ",",  "~"};

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
bool IsLetter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
// Keys of labels and specs have hyphens; there is no subtraction that they could be taken for.
bool IsInName(char c) {
  return IsLetter(c) || IsDigit(c) || c == '.' || c == '/' || c == '-';
}
bool IsSpace(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

template <typename In>
std::string_view TakeWhile(std::string_view text, const In& in) {
  const auto end = std::ranges::find_if_not(text, in);
  return text.substr(0, static_cast<std::size_t>(end - text.begin()));
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  absl::StatusOr<std::vector<Token>> Run() {
    std::vector<Token> tokens;
    while (true) {
      while (at_ < text_.size() && IsSpace(text_[at_])) {
        ++at_;
      }
      ASSIGN_OR_RETURN(Token token, Next());
      tokens.push_back(std::move(token));
      if (tokens.back().kind == TokenKind::kEnd) {
        return tokens;
      }
    }
  }

 private:
  absl::StatusOr<Token> Next() {
    const std::string_view rest = text_.substr(at_);
    if (rest.empty()) {
      return Take(TokenKind::kEnd, 0);
    }
    if (rest.front() == '\'' || rest.front() == '"' || rest.front() == '`') {
      return TakeText();
    }
    if (IsLetter(rest.front())) {
      return TakeWord();
    }
    if (IsDigit(rest.front())) {
      return TakeNumber();
    }
    const auto* symbol =
        std::ranges::find_if(kSymbols, [rest](auto text) { return rest.starts_with(text); });
    if (symbol == kSymbols.end()) {
      return WrongAt(at_, "there is nothing that begins like this");
    }
    return Take(TokenKind::kSymbol, symbol->size());
  }

  Token Take(TokenKind kind, std::size_t length) {
    Token token{.kind = kind, .text = std::string(text_.substr(at_, length)), .offset = at_};
    at_ += length;
    return token;
  }

  Token TakeWord() {
    Token token = Take(TokenKind::kName, TakeWhile(text_.substr(at_), IsInName).size());
    std::string lower = Lower(token.text);
    if (std::ranges::find(kKeywords, lower) != kKeywords.end()) {
      token.kind = TokenKind::kKeyword;
      token.text = std::move(lower);
    }
    return token;
  }

  // A backslash takes the meaning from a quote or a backslash; before anything else it stays, so
  // that a pattern can have `\%`.
  absl::StatusOr<Token> TakeText() {
    Token token{.kind = TokenKind::kText, .offset = at_};
    const char quote = text_[at_++];
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) {
        const char next = text_[at_ + 1];
        if (next == '\\' || next == '\'' || next == '"' || next == '`') {
          ++at_;
        }
      }
      token.text += text_[at_++];
    }
    if (at_ == text_.size()) {
      return WrongAt(token.offset, "the quote is not closed");
    }
    ++at_;
    return token;
  }

  absl::StatusOr<Token> TakeNumber() {
    const std::string_view rest = text_.substr(at_);
    if (IsDate(rest)) {
      const auto in_time = [](char c) { return IsInName(c) || c == ':' || c == '+'; };
      return Take(TokenKind::kTime, TakeWhile(rest, in_time).size());
    }
    const std::size_t length = NumberLength(rest);
    std::optional<Decimal> number = Decimal::Parse(rest.substr(0, length));
    if (!number) {
      return WrongAt(at_, "the number is out of range");
    }
    const std::size_t suffix = ApplySuffix(rest.substr(length), *number);
    if (length + suffix < rest.size() && IsInName(rest[length + suffix]) &&
        rest[length + suffix] != '-' && rest[length + suffix] != '/') {
      return WrongAt(at_, "this is no number");
    }
    Token token = Take(TokenKind::kNumber, length + suffix);
    token.number = *std::move(number);
    return token;
  }

  // Whether it begins like YYYY-MM-DD.
  static bool IsDate(std::string_view text) {
    static constexpr std::string_view kShape = "dddd-dd-dd";
    return text.size() >= kShape.size() &&
           std::ranges::equal(text.substr(0, kShape.size()), kShape, [](char c, char shape) {
             return shape == 'd' ? IsDigit(c) : c == shape;
           });
  }

  // Digits, fraction and exponent, each only where it is whole.
  static std::size_t NumberLength(std::string_view text) {
    const auto digits_from = [text](std::size_t at) {
      return at < text.size() ? TakeWhile(text.substr(at), IsDigit).size() : 0;
    };
    std::size_t length = digits_from(0);
    if (length < text.size() && text[length] == '.' && digits_from(length + 1) > 0) {
      length += 1 + digits_from(length + 1);
    }
    if (length < text.size() && (text[length] == 'e' || text[length] == 'E')) {
      const bool has_sign =
          length + 1 < text.size() && (text[length + 1] == '+' || text[length + 1] == '-');
      const std::size_t digits = length + 1 + (has_sign ? 1 : 0);
      if (digits_from(digits) > 0) {
        length = digits + digits_from(digits);
      }
    }
    return length;
  }

  // `k`, `M`, ... are powers of 1000; with an `i` behind, of 1024. Returns how long it is.
  static std::size_t ApplySuffix(std::string_view text, Decimal& number) {
    static constexpr std::string_view kSuffixes = "kMGTP";
    const char first = text.empty() ? '\0' : text.front() == 'K' ? 'k' : text.front();
    const std::size_t power = kSuffixes.find(first);
    if (text.empty() || power == std::string_view::npos) {
      return 0;
    }
    const bool is_binary = text.size() > 1 && text[1] == 'i';
    for (std::size_t i = 0; i <= power; ++i) {
      number.MultiplyBy(is_binary ? 1024 : 1000);
    }
    return is_binary ? 2 : 1;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

absl::Status WrongAt(std::size_t offset, std::string_view what) {
  return absl::InvalidArgumentError(
      absl::StrFormat("invalid search at position %d: %s", offset + 1, what));
}

absl::StatusOr<std::vector<Token>> Lex(std::string_view text) {
  return Lexer(text).Run();
}

}  // namespace projections::search
