#include "projections/search/parser.h"

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "projections/search/bind.h"
#include "projections/search/lexer.h"
#include "projections/search/token_cursor.h"

namespace projections::search {
namespace {

// A field before it is known what is asked of it.
struct FieldOperand {
  Field field;
  std::size_t offset = 0;
};
// What can stand between operators. Only a Node can be asked for by itself.
using Part = std::variant<Node, FieldOperand, Literal>;

struct Comparison {
  std::string_view text;
  Operator op;
  Operator reversed;  // With its operands the other way round.
};
constexpr std::array<Comparison, 8> kComparisons = {{
    {"=", Operator::kEq, Operator::kEq},
    {"==", Operator::kEq, Operator::kEq},
    {"!=", Operator::kNe, Operator::kNe},
    {"<>", Operator::kNe, Operator::kNe},
    {"<", Operator::kLt, Operator::kGt},
    {"<=", Operator::kLe, Operator::kGe},
    {">", Operator::kGt, Operator::kLt},
    {">=", Operator::kGe, Operator::kLe},
}};

std::size_t OffsetOf(const Part& part) {
  if (const auto* field = std::get_if<FieldOperand>(&part)) {
    return field->offset;
  }
  const auto* literal = std::get_if<Literal>(&part);
  return literal == nullptr ? 0 : literal->offset;
}

class Parser {
 public:
  explicit Parser(std::vector<Token> tokens) : at_(std::move(tokens)) {}

  absl::StatusOr<Node> Run() {
    ASSIGN_OR_RETURN(Part part, ParseChain(NodeKind::kOr));
    if (at_.Peek().kind != TokenKind::kEnd) {
      return at_.Unexpected();
    }
    return AsNode(std::move(part));
  }

 private:
  static absl::StatusOr<Node> AsNode(Part part) {
    if (auto* node = std::get_if<Node>(&part)) {
      return std::move(*node);
    }
    return WrongAt(OffsetOf(part), "this is not compared with anything");
  }

  // Parts with `or` between them, each of which is such with `and`.
  absl::StatusOr<Part> ParseChain(NodeKind kind) {
    const bool is_or = kind == NodeKind::kOr;
    const auto next = [this, is_or] { return is_or ? ParseChain(NodeKind::kAnd) : ParseNot(); };
    const std::string_view word = is_or ? "or" : "and";
    ASSIGN_OR_RETURN(Part first, next());
    if (!at_.PeekIs(TokenKind::kKeyword, word)) {
      return first;
    }
    Node chain{.kind = kind};
    ASSIGN_OR_RETURN(Node node, AsNode(std::move(first)));
    chain.children.push_back(std::move(node));
    while (at_.TakeKeyword(word)) {
      ASSIGN_OR_RETURN(Part part, next());
      ASSIGN_OR_RETURN(Node child, AsNode(std::move(part)));
      chain.children.push_back(std::move(child));
    }
    return chain;
  }

  absl::StatusOr<Part> ParseNot() {
    const std::size_t offset = at_.Peek().offset;
    if (!at_.TakeKeyword("not")) {
      return ParseComparison();
    }
    RETURN_IF_ERROR(Descend());
    ASSIGN_OR_RETURN(Part part, ParseNot());
    --depth_;
    ASSIGN_OR_RETURN(Node node, AsNode(std::move(part)));
    return Negate(std::move(node), offset);
  }

  static absl::StatusOr<Part> Negate(Node node, std::size_t offset) {
    if (!GUARD("search.negated", MayBeNegated(node))) {
      return WrongAt(offset, "labels and conditions cannot be negated");
    }
    return Node{.kind = NodeKind::kNot, .children = {std::move(node)}};
  }

  absl::Status Descend() {
    ++depth_;
    if (!GUARD("search.depth", depth_ <= kMaxSearchDepth)) {
      return WrongAt(at_.Peek().offset, "it is nested too deeply");
    }
    return absl::OkStatus();
  }

  absl::StatusOr<Part> ParseComparison() {
    ASSIGN_OR_RETURN(Part left, ParsePrimary());
    const Token& token = at_.Peek();
    if (token.kind == TokenKind::kSymbol) {
      for (const Comparison& comparison : kComparisons) {
        if (token.text == comparison.text) {
          at_.Skip();
          return ParseRight(std::move(left), comparison);
        }
      }
    }
    const bool is_negated = at_.PeekIs(TokenKind::kKeyword, "not");
    const Token& word = is_negated ? at_.PeekBehind() : token;
    if (word.kind != TokenKind::kKeyword || word.text == "and" || word.text == "or" ||
        (word.text == "is" && is_negated)) {
      return is_negated ? at_.Unexpected() : absl::StatusOr<Part>(std::move(left));
    }
    const std::size_t offset = token.offset;
    at_.Skip(is_negated ? 2 : 1);
    return ParseWord(std::move(left), word.text, is_negated, offset);
  }

  absl::StatusOr<Part> ParseRight(Part left, const Comparison& comparison) {
    const std::size_t offset = at_.Peek().offset;
    ASSIGN_OR_RETURN(Part right, ParsePrimary());
    auto* field = std::get_if<FieldOperand>(&left);
    const bool is_reversed = field == nullptr;
    field = is_reversed ? std::get_if<FieldOperand>(&right) : field;
    auto* literal = std::get_if<Literal>(is_reversed ? &left : &right);
    if (field == nullptr || literal == nullptr) {
      return WrongAt(offset, "a comparison is one of a field with a value");
    }
    return BindTest(std::move(field->field), is_reversed ? comparison.reversed : comparison.op,
                    {std::move(*literal)}, field->offset);
  }

  // What is behind `in`, `like`, ...
  absl::StatusOr<Part> ParseWord(Part left, const std::string& word, bool is_negated,
                                 std::size_t offset) {
    auto* field = std::get_if<FieldOperand>(&left);
    if (field == nullptr) {
      return WrongAt(offset, absl::StrFormat("'%s' needs a field before it", word));
    }
    Operator op = Operator::kIsNull;
    std::vector<Literal> literals;
    if (word == "is") {
      is_negated = at_.TakeKeyword("not");
      if (!at_.TakeKeyword("null")) {
        return at_.Unexpected();
      }
    } else if (word == "in") {
      op = Operator::kIn;
      ASSIGN_OR_RETURN(literals, ParseList());
    } else if (word == "between") {
      op = Operator::kBetween;
      ASSIGN_OR_RETURN(literals, ParseBounds());
    } else if (word == "like" || word == "ilike") {
      op = word == "like" ? Operator::kLike : Operator::kILike;
      ASSIGN_OR_RETURN(Literal pattern, ParseLiteral());
      literals.push_back(std::move(pattern));
    } else {
      return WrongAt(offset, absl::StrFormat("'%s' is not expected here", word));
    }
    ASSIGN_OR_RETURN(Node node,
                     BindTest(std::move(field->field), op, std::move(literals), field->offset));
    if (is_negated) {
      return Negate(std::move(node), offset);
    }
    return node;
  }

  absl::StatusOr<std::vector<Literal>> ParseList() {
    if (!at_.TakeSymbol("[")) {
      return WrongAt(at_.Peek().offset, "a list is put in square brackets");
    }
    std::vector<Literal> literals;
    while (!at_.TakeSymbol("]")) {
      ASSIGN_OR_RETURN(Literal literal, ParseLiteral());
      literals.push_back(std::move(literal));
      if (!at_.TakeSymbol(",") && !at_.PeekIs(TokenKind::kSymbol, "]")) {
        return at_.Unexpected();
      }
    }
    return literals;
  }

  absl::StatusOr<std::vector<Literal>> ParseBounds() {
    ASSIGN_OR_RETURN(Literal low, ParseLiteral());
    if (!at_.TakeKeyword("and")) {
      return at_.Unexpected();
    }
    ASSIGN_OR_RETURN(Literal high, ParseLiteral());
    return std::vector<Literal>{std::move(low), std::move(high)};
  }

  absl::StatusOr<Literal> ParseLiteral() {
    const std::size_t offset = at_.Peek().offset;
    ASSIGN_OR_RETURN(Part part, ParsePrimary());
    if (auto* literal = std::get_if<Literal>(&part)) {
      return std::move(*literal);
    }
    return WrongAt(offset, "a value is expected here");
  }

  absl::StatusOr<Part> ParsePrimary() {
    if (at_.TakeSymbol("(")) {
      RETURN_IF_ERROR(Descend());
      ASSIGN_OR_RETURN(Part part, ParseChain(NodeKind::kOr));
      --depth_;
      if (!at_.TakeSymbol(")")) {
        return at_.Unexpected();
      }
      return part;
    }
    if (at_.Peek().kind == TokenKind::kName) {
      const std::size_t offset = at_.Peek().offset;
      ASSIGN_OR_RETURN(Field field, BindField(at_.Peek().text, offset));
      at_.Skip();
      return FieldOperand{std::move(field), offset};
    }
    return at_.TakeLiteral();
  }

  TokenCursor at_;
  int depth_ = 0;
};

}  // namespace

absl::StatusOr<Node> ParseSearch(std::string_view text) {
  if (!GUARD("search.size", text.size() <= kMaxSearchBytes)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("a search has at most %d bytes", kMaxSearchBytes));
  }
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) {
    return WrongAt(nul, "the character U+0000 is in no text");
  }
  ASSIGN_OR_RETURN(std::vector<Token> tokens, Lex(text));
  return Parser(std::move(tokens)).Run();
}

}  // namespace projections::search
