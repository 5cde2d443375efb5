#include <algorithm>
#include <array>
#include <span>

#include "engine/base/status_macros.h"
#include "projections/cel/grammar.h"
#include "projections/cel/parser.h"

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
// Those that bind least first; each is taken from left to right.
constexpr auto kLevels = std::to_array<std::span<const Operator>>({kRelations, kSums, kProducts});

}  // namespace

// condition ? a : b
absl::StatusOr<NodeId> Grammar::Whole() {
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

absl::StatusOr<NodeId> Grammar::Or() {
  ASSIGN_OR_RETURN(NodeId value, And());
  for (std::size_t offset = Next().offset; Take("||"); offset = Next().offset) {
    ASSIGN_OR_RETURN(const NodeId other, And());
    ASSIGN_OR_RETURN(value, Add({.kind = NodeKind::kOr, .parts = {value, other}}, offset));
  }
  return value;
}

absl::StatusOr<NodeId> Grammar::And() {
  ASSIGN_OR_RETURN(NodeId value, Chain(0));
  for (std::size_t offset = Next().offset; Take("&&"); offset = Next().offset) {
    ASSIGN_OR_RETURN(const NodeId other, Chain(0));
    ASSIGN_OR_RETURN(value, Add({.kind = NodeKind::kAnd, .parts = {value, other}}, offset));
  }
  return value;
}

// operand (operator operand)*
absl::StatusOr<NodeId> Grammar::Chain(std::size_t level) {
  if (level == kLevels.size()) {
    return Unary();
  }
  ASSIGN_OR_RETURN(NodeId value, Chain(level + 1));
  while (true) {
    const std::size_t offset = Next().offset;
    const auto found = std::ranges::find_if(
        kLevels[level], [this](const Operator& one) { return Next().Is(one.symbol); });
    if (found == kLevels[level].end()) {
      return value;
    }
    ++at_;
    ASSIGN_OR_RETURN(const NodeId other, Chain(level + 1));
    ASSIGN_OR_RETURN(value, Call(found->function, {value, other}, offset));
  }
}

absl::StatusOr<NodeId> Grammar::Unary() {
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

}  // namespace projections::cel
