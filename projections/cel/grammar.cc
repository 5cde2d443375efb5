#include "projections/cel/grammar.h"

#include <algorithm>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "projections/cel/functions.h"
#include "projections/cel/parser.h"

namespace projections::cel {

Grammar::Grammar(std::vector<Token> tokens, const std::vector<std::string>& variables)
    : tokens_(std::move(tokens)) {
  for (const std::string& variable : variables) {
    scope_.emplace_back(variable, expression_.slots++);
  }
}

absl::StatusOr<Expression> Grammar::Run() {
  ASSIGN_OR_RETURN(expression_.root, Whole());
  if (Next().kind != Token::Kind::kEnd) {
    return Unexpected();
  }
  return std::move(expression_);
}

bool Grammar::Take(std::string_view symbol) {
  const bool found = Next().Is(symbol);
  at_ += found ? 1 : 0;
  return found;
}

absl::Status Grammar::Expect(std::string_view symbol) {
  return Take(symbol) ? absl::OkStatus()
                      : ErrorAt(Next().offset, absl::StrFormat("expected %s", symbol));
}

absl::Status Grammar::Unexpected() const {
  return ErrorAt(Next().offset, Next().kind == Token::Kind::kEnd ? "the expression ends too early"
                                                                 : "this cannot stand here");
}

absl::StatusOr<NodeId> Grammar::Add(Node node, std::size_t offset) {
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

absl::StatusOr<NodeId> Grammar::Call(Function function, std::vector<NodeId> parts,
                                     std::size_t offset) {
  return Add({.kind = NodeKind::kCall, .function = function, .parts = std::move(parts)}, offset);
}

absl::StatusOr<NodeId> Grammar::Checked(Function function, std::vector<NodeId> arguments,
                                        std::size_t offset) {
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

}  // namespace projections::cel
