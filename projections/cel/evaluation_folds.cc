#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/status_macros.h"
#include "projections/cel/evaluation.h"
#include "projections/cel/lexer.h"

namespace projections::cel {

absl::StatusOr<Value> Evaluation::Walk(const Node& node) {
  ASSIGN_OR_RETURN(const Value::List elements, Elements(node));
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

// Of a list, or the keys of a map.
absl::StatusOr<Value::List> Evaluation::Elements(const Node& node) {
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
  return elements;
}

absl::Status Evaluation::Step(const Node& node, const Value& element, Folded& folded) {
  absl::StatusOr<Value> body = Of(node.parts[1]);
  RETURN_IF_ERROR(Spend(0));
  const bool maps_all = node.fold == Fold::kMap && node.parts.size() == 2;
  if (maps_all) {
    RETURN_IF_ERROR(body.status());
    folded.list.push_back(*std::move(body));
    return absl::OkStatus();
  }
  if (Is(body, true) || Is(body, false)) {
    return Count(node, element, body->boolean(), folded);
  }
  absl::Status error = body.ok() ? ErrorAt(node.offset, "the body must be a bool") : body.status();
  if (node.fold != Fold::kAll && node.fold != Fold::kExists) {
    return error;
  }
  folded.error = folded.error.ok() ? error : folded.error.status();
  return absl::OkStatus();
}

// What it means for the macro that its first body holds for the element, or does not.
absl::Status Evaluation::Count(const Node& node, const Value& element, bool holds, Folded& folded) {
  switch (node.fold) {
    case Fold::kAll:
      folded.decided = !holds;
      break;
    case Fold::kExists:
      folded.decided = holds;
      break;
    case Fold::kExistsOne:
      folded.count += holds ? 1 : 0;
      break;
    case Fold::kFilter:
      if (holds) {
        folded.list.push_back(element);
      }
      break;
    case Fold::kMap:
      if (holds) {
        ASSIGN_OR_RETURN(folded.list.emplace_back(), Of(node.parts[2]));
      }
      break;
  }
  return absl::OkStatus();
}

}  // namespace projections::cel
