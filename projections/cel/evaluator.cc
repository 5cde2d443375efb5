#include "projections/cel/evaluator.h"

#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "projections/cel/functions.h"
#include "projections/cel/lexer.h"

namespace projections::cel {
namespace {

class Evaluation {
 public:
  Evaluation(const Expression& expression, const std::vector<Value>& variables)
      : expression_(expression), slots_(variables) {
    slots_.resize(expression.slots);
  }

  absl::StatusOr<Value> Of(NodeId id) {
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

 private:
  absl::Status Spend(std::size_t cost) {
    spent_ += cost;
    if (!GUARD("cel.cost", spent_ <= kCostLimit)) {
      return absl::ResourceExhaustedError(
          absl::StrFormat("the expression costs more than %d", kCostLimit));
    }
    return absl::OkStatus();
  }

  // Says where; what ran out stays what it is.
  static absl::Status At(const Node& node, const absl::Status& status) {
    if (status.ok() || status.code() == absl::StatusCode::kResourceExhausted) {
      return status;
    }
    const auto message = status.message();
    if (message.find("at byte ") == 0) {
      return status;
    }
    return ErrorAt(node.offset, std::string_view(message.data(), message.size()));
  }

  // The part of a value, or of what an optional holds; from then on all is optional.
  absl::StatusOr<Value> PartOf(const Node& node, const Value& of, const Value& key) {
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

  absl::StatusOr<Value> Select(const Node& node) {
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

  absl::StatusOr<Value> Index(const Node& node) {
    ASSIGN_OR_RETURN(const Value of, Of(node.parts[0]));
    ASSIGN_OR_RETURN(const Value key, Of(node.parts[1]));
    return PartOf(node, of, key);
  }

  absl::StatusOr<Value> Call(const Node& node) {
    std::vector<Value> arguments;
    for (const NodeId part : node.parts) {
      ASSIGN_OR_RETURN(arguments.emplace_back(), Of(part));
    }
    absl::StatusOr<Value> result = Value();
    std::size_t cost = 0;
    switch (node.function) {
      case Function::kNot:
        result = arguments[0].kind() == Value::Kind::kBool
                     ? absl::StatusOr<Value>(Value(!arguments[0].boolean()))
                     : absl::InvalidArgumentError("! takes a bool");
        break;
      case Function::kNegate:
        result = Negate(arguments[0]);
        break;
      case Function::kAdd:
      case Function::kSubtract:
      case Function::kMultiply:
      case Function::kDivide:
      case Function::kModulo:
        RETURN_IF_ERROR(Spend(SizeOf(arguments[0]) + SizeOf(arguments[1])));
        result = Arithmetic(node.function, arguments[0], arguments[1]);
        break;
      default:
        result = CallFunction(node.function, arguments, node.pattern.get(), cost);
        break;
    }
    RETURN_IF_ERROR(Spend(cost));
    return result.ok() ? result : At(node, result.status());
  }

  // What it costs to copy.
  static std::size_t SizeOf(const Value& value) {
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

  absl::StatusOr<Value> List(const Node& node) {
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

  absl::StatusOr<Value> Map(const Node& node) {
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

  // Whether the value is a bool, and this one.
  static bool Is(const absl::StatusOr<Value>& value, bool wanted) {
    return value.ok() && value->kind() == Value::Kind::kBool && value->boolean() == wanted;
  }

  absl::StatusOr<Value> Logic(const Node& node) {
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

  absl::StatusOr<Value> Condition(const Node& node) {
    ASSIGN_OR_RETURN(const Value condition, Of(node.parts[0]));
    if (condition.kind() != Value::Kind::kBool) {
      return ErrorAt(node.offset, "a condition must be a bool");
    }
    return Of(node.parts[condition.boolean() ? 1 : 2]);
  }

  // ---- Macros
  // ------------------------------------------------------------------------------------

  // What a macro has come to.
  struct Folded {
    absl::StatusOr<Value> error = Value();  // The first that nothing has outweighed yet.
    bool decided = false;
    std::size_t count = 0;
    Value::List list;
  };

  absl::StatusOr<Value> Walk(const Node& node) {
    ASSIGN_OR_RETURN(const Value range, Of(node.parts[0]));
    Value::List elements;
    if (range.kind() == Value::Kind::kMap) {
      for (const auto& member : range.map()) {
        elements.emplace_back(member.first);
      }
    } else if (range.kind() == Value::Kind::kList) {
      elements = range.list();
    } else {
      return ErrorAt(node.offset, absl::StrFormat("%s cannot be walked", range.kind_name()));
    }
    RETURN_IF_ERROR(Spend(elements.size()));
    Folded folded;
    for (const Value& element : elements) {
      slots_[node.slot] = element;
      RETURN_IF_ERROR(Step(node, element, folded));
      if (folded.decided) {
        return Value(node.fold == Fold::kExists);
      }
    }
    if (!folded.error.ok()) {
      return folded.error.status();
    }
    switch (node.fold) {
      case Fold::kAll:
        return Value(true);
      case Fold::kExists:
        return Value(false);
      case Fold::kExistsOne:
        return Value(folded.count == 1);
      case Fold::kFilter:
      case Fold::kMap:
        break;
    }
    return Value(std::move(folded.list));
  }

  absl::Status Step(const Node& node, const Value& element, Folded& folded) {
    absl::StatusOr<Value> body = Of(node.parts[1]);
    RETURN_IF_ERROR(Spend(0));
    const bool maps_all = node.fold == Fold::kMap && node.parts.size() == 2;
    if (maps_all) {
      RETURN_IF_ERROR(body.status());
      folded.list.push_back(*std::move(body));
      return absl::OkStatus();
    }
    if (!Is(body, true) && !Is(body, false)) {
      absl::Status error =
          body.ok() ? ErrorAt(node.offset, "the body must be a bool") : body.status();
      if (node.fold != Fold::kAll && node.fold != Fold::kExists) {
        return error;
      }
      folded.error = folded.error.ok() ? error : folded.error.status();
      return absl::OkStatus();
    }
    switch (node.fold) {
      case Fold::kAll:
        folded.decided = !body->boolean();
        break;
      case Fold::kExists:
        folded.decided = body->boolean();
        break;
      case Fold::kExistsOne:
        folded.count += body->boolean() ? 1 : 0;
        break;
      case Fold::kFilter:
        if (body->boolean()) {
          folded.list.push_back(element);
        }
        break;
      case Fold::kMap:
        if (body->boolean()) {
          ASSIGN_OR_RETURN(folded.list.emplace_back(), Of(node.parts[2]));
        }
        break;
    }
    return absl::OkStatus();
  }

  const Expression& expression_;
  std::vector<Value> slots_;
  std::size_t spent_ = 0;
};

}  // namespace

absl::StatusOr<Value> Evaluate(const Expression& expression, const std::vector<Value>& variables) {
  return Evaluation(expression, variables).Of(expression.root);
}

}  // namespace projections::cel
