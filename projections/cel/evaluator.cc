#include "projections/cel/evaluator.h"

#include <string_view>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "projections/cel/evaluation.h"
#include "projections/cel/functions.h"
#include "projections/cel/lexer.h"

namespace projections::cel {
namespace {

// Says where; what ran out stays what it is.
absl::Status At(const Node& node, const absl::Status& status) {
  if (status.ok() || status.code() == absl::StatusCode::kResourceExhausted) {
    return status;
  }
  const auto message = status.message();
  if (message.find("at byte ") == 0) {
    return status;
  }
  return ErrorAt(node.offset, std::string_view(message.data(), message.size()));
}

// What it costs to copy.
std::size_t SizeOf(const Value& value) {
  return value.kind() == Value::Kind::kText   ? value.text().size() / 10
         : value.kind() == Value::Kind::kList ? value.list().size()
                                              : 0;
}

// What stands with `?` is there if its optional holds something.
absl::StatusOr<const Value*> Marked(const Node& node, bool marked, const Value& value) {
  if (!marked) {
    return &value;
  }
  if (value.kind() != Value::Kind::kOptional) {
    return ErrorAt(node.offset, "what stands behind ? must be an optional");
  }
  return value.optional();
}

}  // namespace

Evaluation::Evaluation(const Expression& expression, const std::vector<Value>& variables)
    : expression_(expression), slots_(variables) {
  slots_.resize(expression.slots);
}

absl::StatusOr<Value> Evaluation::Of(NodeId id) {
  const Node& node = expression_.nodes[id];
  if (node.kind != NodeKind::kLiteral) {
    RETURN_IF_ERROR(Spend(1));
  }
  switch (node.kind) {
    case NodeKind::kLiteral:
      return node.literal;
    case NodeKind::kVariable:
      return slots_[node.slot];
    case NodeKind::kSelect:
    case NodeKind::kHas:
      return Select(node);
    case NodeKind::kIndex:
      return Index(node);
    case NodeKind::kCall:
      return Call(node);
    case NodeKind::kList:
      return List(node);
    case NodeKind::kMap:
      return Map(node);
    case NodeKind::kAnd:
    case NodeKind::kOr:
      return Logic(node);
    case NodeKind::kCondition:
      return Condition(node);
    case NodeKind::kFold:
      return Walk(node);
  }
  return At(node, absl::InvalidArgumentError("unknown node"));
}

absl::Status Evaluation::Spend(std::size_t cost) {
  spent_ += cost;
  if (!GUARD("cel.cost", spent_ <= kCostLimit)) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("the expression costs more than %d", kCostLimit));
  }
  return absl::OkStatus();
}

absl::StatusOr<Value> Evaluation::PartOf(const Node& node, const Value& of, const Value& key) {
  const Value* from = &of;
  bool optional = node.optional;
  if (of.kind() == Value::Kind::kOptional) {
    optional = true;
    from = of.optional();
    if (from == nullptr) {
      return Value::Nothing();
    }
  }
  const absl::StatusOr<const Value*> part = Part(*from, key);
  if (!part.ok()) {
    return At(node, part.status());
  }
  if (*part == nullptr) {
    return optional ? absl::StatusOr<Value>(Value::Nothing())
                    : ErrorAt(node.offset, key.kind() == Value::Kind::kText
                                               ? absl::StrFormat("no member %s", key.text())
                                               : "no such element");
  }
  return optional ? Value::Something(**part) : **part;
}

absl::StatusOr<Value> Evaluation::Select(const Node& node) {
  ASSIGN_OR_RETURN(const Value of, Of(node.parts[0]));
  if (node.kind == NodeKind::kSelect) {
    return PartOf(node, of, Value(node.text));
  }
  const Value* const from = of.kind() == Value::Kind::kOptional ? of.optional() : &of;
  if (from == nullptr) {
    return Value(false);
  }
  if (from->kind() != Value::Kind::kMap) {
    return ErrorAt(node.offset, absl::StrFormat("%s has no members", from->kind_name()));
  }
  return Value(from->map().contains(node.text));
}

absl::StatusOr<Value> Evaluation::Index(const Node& node) {
  ASSIGN_OR_RETURN(const Value of, Of(node.parts[0]));
  ASSIGN_OR_RETURN(const Value key, Of(node.parts[1]));
  return PartOf(node, of, key);
}

absl::StatusOr<Value> Evaluation::Call(const Node& node) {
  std::vector<Value> arguments;
  for (const NodeId part : node.parts) {
    ASSIGN_OR_RETURN(arguments.emplace_back(), Of(part));
  }
  absl::StatusOr<Value> result = Apply(node, arguments);
  return result.ok() ? result : At(node, result.status());
}

absl::StatusOr<Value> Evaluation::Apply(const Node& node, const std::vector<Value>& arguments) {
  switch (node.function) {
    case Function::kNot:
      return arguments[0].kind() == Value::Kind::kBool
                 ? absl::StatusOr<Value>(Value(!arguments[0].boolean()))
                 : absl::InvalidArgumentError("! takes a bool");
    case Function::kNegate:
      return Negate(arguments[0]);
    case Function::kAdd:
    case Function::kSubtract:
    case Function::kMultiply:
    case Function::kDivide:
    case Function::kModulo:
      RETURN_IF_ERROR(Spend(SizeOf(arguments[0]) + SizeOf(arguments[1])));
      return Arithmetic(node.function, arguments[0], arguments[1]);
    default:
      break;
  }
  std::size_t cost = 0;
  absl::StatusOr<Value> result = CallFunction(node.function, arguments, node.pattern.get(), cost);
  RETURN_IF_ERROR(Spend(cost));
  return result;
}

absl::StatusOr<Value> Evaluation::List(const Node& node) {
  Value::List list;
  for (std::size_t i = 0; i < node.parts.size(); ++i) {
    ASSIGN_OR_RETURN(const Value element, Of(node.parts[i]));
    ASSIGN_OR_RETURN(const Value* held, Marked(node, node.marked[i], element));
    if (held != nullptr) {
      list.push_back(*held);
    }
  }
  return Value(std::move(list));
}

absl::StatusOr<Value> Evaluation::Map(const Node& node) {
  Value::Map map;
  for (std::size_t i = 0; i < node.parts.size(); i += 2) {
    ASSIGN_OR_RETURN(const Value key, Of(node.parts[i]));
    ASSIGN_OR_RETURN(const Value value, Of(node.parts[i + 1]));
    if (key.kind() != Value::Kind::kText) {
      return ErrorAt(node.offset, "the keys of maps must be strings");
    }
    ASSIGN_OR_RETURN(const Value* held, Marked(node, node.marked[i / 2], value));
    if (held != nullptr && !map.emplace(key.text(), *held).second) {
      return ErrorAt(node.offset, absl::StrFormat("the key %s is there twice", key.text()));
    }
  }
  return Value(std::move(map));
}

bool Evaluation::Is(const absl::StatusOr<Value>& value, bool wanted) {
  return value.ok() && value->kind() == Value::Kind::kBool && value->boolean() == wanted;
}

absl::StatusOr<Value> Evaluation::Logic(const Node& node) {
  const bool decides = node.kind == NodeKind::kOr;
  absl::StatusOr<Value> result = Value(!decides);
  for (const NodeId part : node.parts) {
    absl::StatusOr<Value> side = Of(part);
    RETURN_IF_ERROR(Spend(0));
    if (Is(side, decides)) {
      return Value(decides);
    }
    if (result.ok() && !Is(side, !decides)) {
      result = side.ok() ? ErrorAt(node.offset, "&& and || take bools") : side.status();
    }
  }
  return result;
}

absl::StatusOr<Value> Evaluation::Condition(const Node& node) {
  ASSIGN_OR_RETURN(const Value condition, Of(node.parts[0]));
  if (condition.kind() != Value::Kind::kBool) {
    return ErrorAt(node.offset, "a condition must be a bool");
  }
  return Of(node.parts[condition.boolean() ? 1 : 2]);
}

absl::StatusOr<Value> Evaluate(const Expression& expression, const std::vector<Value>& variables) {
  return Evaluation(expression, variables).Of(expression.root);
}

}  // namespace projections::cel
