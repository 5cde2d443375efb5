// Grammar: recursive descent over the tokens of an expression; the work behind Parse of parser.h.
//
//   grammar.cc            tokens and nodes
//   grammar_operators.cc  from `?:` down to the signs
//   grammar_operands.cc   members, calls, literals, lists and maps
//
// What nests is counted twice: on the way down, so that the stack has an end, and in the nodes,
// whose chains grow on the way back up.
//
// Each rule takes its tokens and returns the node that they come to. Fails with kInvalidArgument:
// what is wrong, and at which byte. One thread; never blocks. Used once.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "projections/cel/expression.h"
#include "projections/cel/lexer.h"

namespace projections::cel {

class Grammar {
 public:
  Grammar(std::vector<Token> tokens, const std::vector<std::string>& variables);

  // All tokens.
  absl::StatusOr<Expression> Run();

 private:
  // ---- Operators, those that bind least first ----
  absl::StatusOr<NodeId> Whole();
  absl::StatusOr<NodeId> Or();
  absl::StatusOr<NodeId> And();
  absl::StatusOr<NodeId> Chain(std::size_t level);
  absl::StatusOr<NodeId> Unary();

  // ---- Operands ----
  absl::StatusOr<NodeId> Member();
  absl::StatusOr<NodeId> Dotted(NodeId value, bool optional, std::size_t offset);
  absl::StatusOr<NodeId> Walk(Fold fold, NodeId range, std::size_t offset);
  absl::StatusOr<NodeId> Primary();
  absl::StatusOr<NodeId> Variable(const Token& name);
  absl::StatusOr<NodeId> CallOf(const Token& name);
  absl::StatusOr<NodeId> Has(const Token& name);
  absl::StatusOr<NodeId> List();
  absl::StatusOr<NodeId> Map(std::size_t offset);
  // Appends to `out` up to the closing parenthesis, and checks that there are `wanted` then.
  absl::Status Arguments(std::string_view name, std::size_t wanted, std::vector<NodeId>& out);

  // ---- Tokens ----
  const Token& Next() const { return tokens_[at_]; }
  bool Take(std::string_view symbol);
  absl::Status Expect(std::string_view symbol);
  absl::Status Unexpected() const;

  // ---- Nodes ----
  absl::StatusOr<NodeId> Add(Node node, std::size_t offset);
  absl::StatusOr<NodeId> Call(Function function, std::vector<NodeId> parts, std::size_t offset);
  // As Call; a pattern that is a literal is compiled now.
  absl::StatusOr<NodeId> Checked(Function function, std::vector<NodeId> arguments,
                                 std::size_t offset);

  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  std::size_t nesting_ = 0;
  Expression expression_;
  std::vector<std::pair<std::string, std::uint32_t>> scope_;  // Names and their slots.
};

}  // namespace projections::cel
