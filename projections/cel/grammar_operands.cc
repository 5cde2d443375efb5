#include <algorithm>
#include <optional>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/status_macros.h"
#include "projections/cel/grammar.h"
#include "projections/cel/names.h"

namespace projections::cel {

absl::StatusOr<NodeId> Grammar::Member() {
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
absl::StatusOr<NodeId> Grammar::Dotted(NodeId value, bool optional, std::size_t offset) {
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

absl::Status Grammar::Arguments(std::string_view name, std::size_t wanted,
                                std::vector<NodeId>& out) {
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

// list.all(element, body)
absl::StatusOr<NodeId> Grammar::Walk(Fold fold, NodeId range, std::size_t offset) {
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

absl::StatusOr<NodeId> Grammar::Primary() {
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

absl::StatusOr<NodeId> Grammar::Variable(const Token& name) {
  const auto found = std::find_if(scope_.rbegin(), scope_.rend(),
                                  [&name](const auto& known) { return known.first == name.text; });
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

absl::StatusOr<NodeId> Grammar::CallOf(const Token& name) {
  if (name.text == "has") {
    return Has(name);
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

// Behind `has(`.
absl::StatusOr<NodeId> Grammar::Has(const Token& name) {
  ASSIGN_OR_RETURN(const NodeId selected, Whole());
  RETURN_IF_ERROR(Expect(")"));
  Node& node = expression_.nodes[selected];
  if (node.kind != NodeKind::kSelect || node.optional) {
    return ErrorAt(name.offset, "has() takes the selection of a member");
  }
  node.kind = NodeKind::kHas;
  return selected;
}

absl::StatusOr<NodeId> Grammar::List() {
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

absl::StatusOr<NodeId> Grammar::Map(std::size_t offset) {
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

}  // namespace projections::cel
