#include "projections/cel/parser.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "projections/cel/functions.h"
#include "projections/cel/lexer.h"
#include "projections/cel/names.h"

namespace projections::cel {
namespace {

struct Operator {
  std::string_view symbol;
  Function function = Function::kNone;
};
constexpr auto kRelations = std::to_array<Operator>({{"==", Function::kEqual},
                                                     {"!=", Function::kDiffer},
                                                     {"<", Function::kLess},
                                                     {"<=", Function::kLessOrEqual},
                                                     {">", Function::kGreater},
                                                     {">=", Function::kGreaterOrEqual},
                                                     {"in", Function::kIn}});
constexpr auto kSums = std::to_array<Operator>({{"+", Function::kAdd}, {"-", Function::kSubtract}});
constexpr auto kProducts = std::to_array<Operator>(
    {{"*", Function::kMultiply}, {"/", Function::kDivide}, {"%", Function::kModulo}});

// Recursive descent. What nests is counted twice: on the way down, so that the stack has an end,
// and in the nodes, whose chains grow on the way back up.
class Parser {
 public:
  Parser(std::vector<Token> tokens, const std::vector<std::string>& variables)
      : tokens_(std::move(tokens)) {
    for (const std::string& variable : variables) {
      scope_.emplace_back(variable, expression_.slots++);
    }
  }

  absl::StatusOr<Expression> Run() {
    ASSIGN_OR_RETURN(expression_.root, Whole());
    if (Next().kind != Token::Kind::kEnd) {
      return Unexpected();
    }
    return std::move(expression_);
  }

 private:
  using Id = absl::StatusOr<NodeId>;

  const Token& Next() const { return tokens_[at_]; }
  bool Take(std::string_view symbol) {
    const bool found = Next().Is(symbol);
    at_ += found ? 1 : 0;
    return found;
  }
  absl::Status Expect(std::string_view symbol) {
    return Take(symbol) ? absl::OkStatus()
                        : ErrorAt(Next().offset, absl::StrFormat("expected %s", symbol));
  }
  absl::Status Unexpected() const {
    return ErrorAt(Next().offset, Next().kind == Token::Kind::kEnd ? "the expression ends too early"
                                                                   : "this cannot stand here");
  }

  Id Add(Node node, std::size_t offset) {
    for (const NodeId part : node.parts) {
      node.depth = std::max(node.depth, expression_.nodes[part].depth + 1);
    }
    if (!GUARD("cel.depth", node.depth <= kMaxExpressionDepth)) {
      return ErrorAt(offset, "nested too deep");
    }
    node.offset = offset;
    expression_.nodes.push_back(std::move(node));
    return static_cast<NodeId>(expression_.nodes.size() - 1);
  }
  Id Call(Function function, std::vector<NodeId> parts, std::size_t offset) {
    return Add({.kind = NodeKind::kCall, .function = function, .parts = std::move(parts)}, offset);
  }

  // ---- Operators -------------------------------------------------------------------------------

  // condition ? a : b
  Id Whole() {
    if (++nesting_ > kMaxExpressionDepth) {
      return ErrorAt(Next().offset, "nested too deep");
    }
    ASSIGN_OR_RETURN(NodeId value, Or());
    const std::size_t offset = Next().offset;
    if (Take("?")) {
      ASSIGN_OR_RETURN(const NodeId then, Or());
      RETURN_IF_ERROR(Expect(":"));
      ASSIGN_OR_RETURN(const NodeId otherwise, Whole());
      ASSIGN_OR_RETURN(
          value, Add({.kind = NodeKind::kCondition, .parts = {value, then, otherwise}}, offset));
    }
    --nesting_;
    return value;
  }

  Id Or() {
    ASSIGN_OR_RETURN(NodeId value, And());
    for (std::size_t offset = Next().offset; Take("||"); offset = Next().offset) {
      ASSIGN_OR_RETURN(const NodeId other, And());
      ASSIGN_OR_RETURN(value, Add({.kind = NodeKind::kOr, .parts = {value, other}}, offset));
    }
    return value;
  }

  Id And() {
    ASSIGN_OR_RETURN(NodeId value, Relation());
    for (std::size_t offset = Next().offset; Take("&&"); offset = Next().offset) {
      ASSIGN_OR_RETURN(const NodeId other, Relation());
      ASSIGN_OR_RETURN(value, Add({.kind = NodeKind::kAnd, .parts = {value, other}}, offset));
    }
    return value;
  }

  Id Relation() {
    return Chain(kRelations, [this] {
      return Chain(kSums, [this] { return Chain(kProducts, [this] { return Unary(); }); });
    });
  }

  // operand (operator operand)*
  template <class Operators, class Operand>
  Id Chain(const Operators& operators, const Operand& operand) {
    ASSIGN_OR_RETURN(NodeId value, operand());
    while (true) {
      const std::size_t offset = Next().offset;
      const auto found = std::ranges::find_if(
          operators, [this](const Operator& one) { return Next().Is(one.symbol); });
      if (found == operators.end()) {
        return value;
      }
      ++at_;
      ASSIGN_OR_RETURN(const NodeId other, operand());
      ASSIGN_OR_RETURN(value, Call(found->function, {value, other}, offset));
    }
  }

  Id Unary() {
    const std::size_t offset = Next().offset;
    if (!Next().Is("!") && !Next().Is("-")) {
      return Member();
    }
    if (++nesting_ > kMaxExpressionDepth) {
      return ErrorAt(offset, "nested too deep");
    }
    const Function function = Take("!") ? Function::kNot : Function::kNegate;
    if (function == Function::kNegate) {
      ++at_;
      const Value& literal = Next().literal;
      if (literal.kind() == Value::Kind::kInt && Next().kind == Token::Kind::kLiteral) {
        // So that the smallest integer can be written.
        const auto bits = static_cast<std::uint64_t>(literal.integer());
        tokens_[at_].literal = Value(static_cast<std::int64_t>(~bits + 1));
        --nesting_;
        return Member();
      }
    }
    ASSIGN_OR_RETURN(const NodeId value, Unary());
    --nesting_;
    return Call(function, {value}, offset);
  }

  // ---- Members ---------------------------------------------------------------------------------

  Id Member() {
    ASSIGN_OR_RETURN(NodeId value, Primary());
    while (true) {
      const std::size_t offset = Next().offset;
      if (Take(".") || Next().Is(".?")) {
        const bool optional = Take(".?");
        ASSIGN_OR_RETURN(value, Dotted(value, optional, offset));
      } else if (Take("[") || Next().Is("[?")) {
        const bool optional = Take("[?");
        ASSIGN_OR_RETURN(const NodeId index, Whole());
        RETURN_IF_ERROR(Expect("]"));
        ASSIGN_OR_RETURN(
            value,
            Add({.kind = NodeKind::kIndex, .optional = optional, .parts = {value, index}}, offset));
      } else {
        return value;
      }
    }
  }

  // What is behind a dot.
  Id Dotted(NodeId value, bool optional, std::size_t offset) {
    if (Next().kind != Token::Kind::kName) {
      return Unexpected();
    }
    std::string name = Next().text;
    ++at_;
    if (optional || !Take("(")) {
      return Add({.kind = NodeKind::kSelect,
                  .text = std::move(name),
                  .optional = optional,
                  .parts = {value}},
                 offset);
    }
    if (const std::optional<Fold> fold = FindFold(name)) {
      return Walk(*fold, value, offset);
    }
    std::size_t wanted = 0;
    const std::optional<Function> function = FindMethod(name, wanted);
    if (!function) {
      return ErrorAt(offset, absl::StrFormat("there is no function .%s()", name));
    }
    std::vector<NodeId> arguments = {value};
    RETURN_IF_ERROR(Arguments(name, wanted, arguments));
    return Checked(*function, std::move(arguments), offset);
  }

  // Up to the closing parenthesis.
  absl::Status Arguments(std::string_view name, std::size_t wanted, std::vector<NodeId>& out) {
    const std::size_t offset = Next().offset;
    if (!Take(")")) {
      do {
        ASSIGN_OR_RETURN(out.emplace_back(), Whole());
      } while (Take(","));
      RETURN_IF_ERROR(Expect(")"));
    }
    return out.size() == wanted
               ? absl::OkStatus()
               : ErrorAt(offset, absl::StrFormat("%s() takes another number of arguments", name));
  }

  // A pattern that is a literal is compiled now.
  Id Checked(Function function, std::vector<NodeId> arguments, std::size_t offset) {
    Node node{.kind = NodeKind::kCall, .function = function, .parts = std::move(arguments)};
    const Node& last = expression_.nodes[node.parts.back()];
    if (function == Function::kMatches && last.kind == NodeKind::kLiteral &&
        last.literal.kind() == Value::Kind::kText) {
      auto pattern = CompilePattern(last.literal.text());
      if (!pattern.ok()) {
        const auto why = pattern.status().message();
        return ErrorAt(last.offset, std::string_view(why.data(), why.size()));
      }
      node.pattern = *std::move(pattern);
    }
    return Add(std::move(node), offset);
  }

  // list.all(element, body)
  Id Walk(Fold fold, NodeId range, std::size_t offset) {
    if (Next().kind != Token::Kind::kName) {
      return ErrorAt(Next().offset, "expected the name of the element");
    }
    Node node{.kind = NodeKind::kFold, .fold = fold, .slot = expression_.slots++, .parts = {range}};
    scope_.emplace_back(Next().text, node.slot);
    ++at_;
    do {
      RETURN_IF_ERROR(Expect(","));
      ASSIGN_OR_RETURN(node.parts.emplace_back(), Whole());
    } while (fold == Fold::kMap && node.parts.size() < 3 && !Next().Is(")"));
    scope_.pop_back();
    RETURN_IF_ERROR(Expect(")"));
    return Add(std::move(node), offset);
  }

  // ---- What stands alone -----------------------------------------------------------------------

  Id Primary() {
    const Token token = Next();
    if (token.kind == Token::Kind::kLiteral) {
      ++at_;
      return Add({.literal = token.literal}, token.offset);
    }
    if (token.kind == Token::Kind::kName) {
      ++at_;
      return Take("(") ? CallOf(token) : Variable(token);
    }
    if (Take("(")) {
      ASSIGN_OR_RETURN(const NodeId value, Whole());
      RETURN_IF_ERROR(Expect(")"));
      return value;
    }
    if (Next().Is("[") || Next().Is("[?")) {
      return List();
    }
    return Take("{") ? Map(token.offset) : Unexpected();
  }

  Id Variable(const Token& name) {
    const auto found = std::find_if(scope_.rbegin(), scope_.rend(), [&name](const auto& known) {
      return known.first == name.text;
    });
    if (found != scope_.rend()) {
      return Add({.kind = NodeKind::kVariable, .slot = found->second}, name.offset);
    }
    if (name.text == "optional" && Take(".")) {
      const Token function = Next();
      at_ += function.kind == Token::Kind::kEnd ? 0 : 1;
      std::size_t wanted = 0;
      const auto known = FindOptionalFunction(function.text, wanted);
      if (known && Take("(")) {
        std::vector<NodeId> arguments;
        RETURN_IF_ERROR(Arguments(function.text, wanted, arguments));
        return Call(*known, std::move(arguments), name.offset);
      }
    }
    return ErrorAt(name.offset, absl::StrFormat("nothing is called %s", name.text));
  }

  Id CallOf(const Token& name) {
    if (name.text == "has") {
      ASSIGN_OR_RETURN(const NodeId selected, Whole());
      RETURN_IF_ERROR(Expect(")"));
      Node& node = expression_.nodes[selected];
      if (node.kind != NodeKind::kSelect || node.optional) {
        return ErrorAt(name.offset, "has() takes the selection of a member");
      }
      node.kind = NodeKind::kHas;
      return selected;
    }
    std::size_t wanted = 0;
    const std::optional<Function> function = FindFunction(name.text, wanted);
    if (!function) {
      return ErrorAt(name.offset, absl::StrFormat("there is no function %s()", name.text));
    }
    std::vector<NodeId> arguments;
    RETURN_IF_ERROR(Arguments(name.text, wanted, arguments));
    return Checked(*function, std::move(arguments), name.offset);
  }

  Id List() {
    const std::size_t offset = Next().offset;
    Node node{.kind = NodeKind::kList};
    bool marked = Next().Is("[?");
    ++at_;
    while (!Take("]")) {
      marked = Take("?") || marked;
      node.marked.push_back(std::exchange(marked, false));
      ASSIGN_OR_RETURN(node.parts.emplace_back(), Whole());
      if (!Take(",") && !Next().Is("]")) {
        return Expect("]");
      }
    }
    return Add(std::move(node), offset);
  }

  Id Map(std::size_t offset) {
    Node node{.kind = NodeKind::kMap};
    while (!Take("}")) {
      node.marked.push_back(Take("?"));
      ASSIGN_OR_RETURN(node.parts.emplace_back(), Whole());
      RETURN_IF_ERROR(Expect(":"));
      ASSIGN_OR_RETURN(node.parts.emplace_back(), Whole());
      if (!Take(",") && !Next().Is("}")) {
        return Expect("}");
      }
    }
    return Add(std::move(node), offset);
  }

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::size_t nesting_ = 0;
  Expression expression_;
  std::vector<std::pair<std::string, std::uint32_t>> scope_;
};

}  // namespace

absl::StatusOr<Expression> Parse(std::string_view source,
                                 const std::vector<std::string>& variables) {
  if (source.size() > kMaxSourceBytes) {
    return ErrorAt(kMaxSourceBytes, "the expression is too long");
  }
  ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokens(source));
  return Parser(std::move(tokens), variables).Run();
}

}  // namespace projections::cel
