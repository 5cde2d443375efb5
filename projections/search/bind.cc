#include "projections/search/bind.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "projections/search/like.h"
#include "projections/search/spec_paths.h"

namespace projections::search {
namespace {

constexpr std::string_view kLabels = "labels.";
constexpr std::string_view kSpec = "spec.";
constexpr std::string_view kConditions = "status.conditions.";
constexpr std::size_t kMaxPatternWithAny = 256;

bool IsAlphanumeric(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
bool IsUpper(char c) {
  return c >= 'A' && c <= 'Z';
}

absl::StatusOr<Field> BindSpec(std::string_view rest, std::size_t offset) {
  Field field{.kind = FieldKind::kSpec};
  while (true) {
    const std::size_t dot = rest.find('.');
    const std::string_view key = rest.substr(0, dot);
    if (!IsPathKey(key) || field.path.size() == kMaxPathKeys) {
      return WrongAt(offset,
                     "a path in spec is made of keys of letters, digits, _ and -, "
                     "with one dot between them");
    }
    field.path.emplace_back(key);
    if (dot == std::string_view::npos) {
      return field;
    }
    rest.remove_prefix(dot + 1);
  }
}

absl::StatusOr<Field> BindCondition(std::string_view rest, std::size_t offset) {
  const std::size_t dot = rest.find('.');
  Field field{.kind = FieldKind::kConditionStatus, .name = std::string(rest.substr(0, dot))};
  if (field.name.empty() || !IsUpper(field.name.front()) ||
      !std::ranges::all_of(field.name, IsAlphanumeric)) {
    return WrongAt(offset,
                   "the type of a condition is letters and digits, an upper-case letter "
                   "first");
  }
  const std::string_view member = dot == std::string_view::npos ? "" : rest.substr(dot + 1);
  if (member == "last_updated_time") {
    field.kind = FieldKind::kConditionLastUpdated;
  } else if (member == "last_transition_time") {
    field.kind = FieldKind::kConditionLastTransition;
  } else if (member == "observed_generation") {
    field.kind = FieldKind::kConditionObservedGeneration;
  } else if (dot != std::string_view::npos) {
    return WrongAt(offset,
                   "of a condition last_updated_time, last_transition_time and "
                   "observed_generation can be searched");
  }
  return field;
}

bool IsCondition(FieldKind kind) {
  return kind != FieldKind::kColumn && kind != FieldKind::kLabel && kind != FieldKind::kSpec;
}

// What a field holds; a spec holds either texts or numbers.
enum class Holds { kText, kNumber, kInt32, kTime, kStatus };

Holds HoldsOf(const Field& field) {
  switch (field.kind) {
    case FieldKind::kConditionStatus:
      return Holds::kStatus;
    case FieldKind::kConditionLastUpdated:
    case FieldKind::kConditionLastTransition:
      return Holds::kTime;
    case FieldKind::kConditionObservedGeneration:
      return Holds::kInt32;
    case FieldKind::kColumn:
      break;
    default:
      return Holds::kText;
  }
  switch (field.column) {
    case ResourceColumn::kGeneration:
      return Holds::kNumber;
    case ResourceColumn::kCreatedTime:
    case ResourceColumn::kUpdatedTime:
    case ResourceColumn::kDeletedTime:
      return Holds::kTime;
    default:
      return Holds::kText;
  }
}

absl::Status CheckOperator(const Field& field, Operator op, std::size_t offset) {
  const std::string name = Print(field);
  if (field.kind == FieldKind::kConditionStatus && op != Operator::kEq && op != Operator::kIsNull) {
    return WrongAt(offset, absl::StrFormat("%s can only be compared with =", name));
  }
  const bool is_set = op == Operator::kIn || op == Operator::kBetween;
  const bool is_like = op == Operator::kLike || op == Operator::kILike;
  if (IsCondition(field.kind) && (is_set || is_like)) {
    return WrongAt(offset, absl::StrFormat("%s can only be compared with = != < <= > >=", name));
  }
  if (is_like && HoldsOf(field) != Holds::kText) {
    return WrongAt(offset, absl::StrFormat("%s is no text: like and ilike do not fit", name));
  }
  return absl::OkStatus();
}

std::optional<engine::Timestamp> TimeOf(const Literal& literal) {
  if (literal.kind != LiteralKind::kText && literal.kind != LiteralKind::kTime) {
    return std::nullopt;
  }
  if (const auto time = engine::ParseTimestamp(literal.text)) {
    return time;
  }
  return engine::ParseTimestamp(literal.text + "T00:00:00Z");
}

absl::StatusOr<Value> BindNumber(const Field& field, const Literal& literal, bool is_int32) {
  if (literal.kind != LiteralKind::kNumber) {
    return WrongAt(literal.offset, absl::StrFormat("%s is compared with a number", Print(field)));
  }
  using Limits = std::numeric_limits<std::int32_t>;
  if (is_int32 && !literal.number.Integer(Limits::min(), Limits::max())) {
    return WrongAt(literal.offset,
                   absl::StrFormat("%s is compared with an integer of 32 bits", Print(field)));
  }
  return literal.number;
}

absl::StatusOr<Value> BindText(const Field& field, const Literal& literal) {
  const bool is_spec = field.kind == FieldKind::kSpec;
  if (!is_spec && (literal.kind == LiteralKind::kNumber || literal.kind == LiteralKind::kBool)) {
    return WrongAt(literal.offset,
                   absl::StrFormat("%s is compared with a text: put it in quotes", Print(field)));
  }
  return literal.text;
}

absl::StatusOr<Value> BindValue(const Field& field, const Literal& literal, bool as_numbers) {
  switch (HoldsOf(field)) {
    case Holds::kNumber:
      return BindNumber(field, literal, false);
    case Holds::kInt32:
      return BindNumber(field, literal, true);
    case Holds::kTime:
      if (const auto time = TimeOf(literal)) {
        return *time;
      }
      return WrongAt(
          literal.offset,
          absl::StrFormat("%s is compared with a date or an RFC 3339 time", Print(field)));
    case Holds::kStatus:
      if (literal.kind == LiteralKind::kText &&
          (literal.text == "True" || literal.text == "False" || literal.text == "Unknown")) {
        return literal.text;
      }
      return WrongAt(literal.offset, "the status of a condition is 'True', 'False' or 'Unknown'");
    case Holds::kText:
      break;
  }
  if (as_numbers) {
    return literal.number;
  }
  return BindText(field, literal);
}

// A comparison with null; empty when it is none.
absl::StatusOr<std::optional<Node>> BindNull(const Field& field, Operator op,
                                             const std::vector<Literal>& literals) {
  const auto null = std::ranges::find(literals, LiteralKind::kNull, &Literal::kind);
  if (op == Operator::kIn || null == literals.end()) {
    return std::nullopt;
  }
  Node is_null{.test = {.field = field, .op = Operator::kIsNull}};
  if (op == Operator::kEq) {
    return is_null;
  }
  if (op == Operator::kNe && MayBeNegated(is_null)) {
    return Node{.kind = NodeKind::kNot, .children = {std::move(is_null)}};
  }
  return WrongAt(null->offset, absl::StrFormat("%s cannot be compared so with null", Print(field)));
}

absl::Status CheckPattern(const Literal& literal) {
  if (!IsPattern(literal.text)) {
    return WrongAt(literal.offset, "the pattern ends with a backslash");
  }
  // It is tried at every place of a text.
  if (!GUARD("search.pattern", literal.text.size() <= kMaxPatternWithAny ||
                                   literal.text.find('_') == std::string::npos)) {
    return WrongAt(literal.offset,
                   absl::StrFormat("a pattern with _ has at most %d bytes", kMaxPatternWithAny));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Field> BindField(std::string_view name, std::size_t offset) {
  if (name.starts_with(kLabels)) {
    if (name.size() == kLabels.size()) {
      return WrongAt(offset, "the key of the label is missing");
    }
    return Field{.kind = FieldKind::kLabel, .name = std::string(name.substr(kLabels.size()))};
  }
  if (name.starts_with(kSpec)) {
    return BindSpec(name.substr(kSpec.size()), offset);
  }
  if (name.starts_with(kConditions)) {
    return BindCondition(name.substr(kConditions.size()), offset);
  }
  if (const auto column = FindColumn(name)) {
    return Field{.kind = FieldKind::kColumn, .column = *column};
  }
  return WrongAt(offset, absl::StrFormat("there is no field '%s'", name));
}

absl::StatusOr<Node> BindTest(Field field, Operator op, std::vector<Literal> literals,
                              std::size_t offset) {
  ASSIGN_OR_RETURN(std::optional<Node> null, BindNull(field, op, literals));
  if (null) {
    return *std::move(null);
  }
  RETURN_IF_ERROR(CheckOperator(field, op, offset));
  if (op == Operator::kLike || op == Operator::kILike) {
    RETURN_IF_ERROR(CheckPattern(literals.front()));
  }
  const bool is_like = op == Operator::kLike || op == Operator::kILike;
  const bool as_numbers =
      field.kind == FieldKind::kSpec && !is_like &&
      std::ranges::all_of(literals, [](const Literal& literal) {
        return literal.kind == LiteralKind::kNumber || literal.kind == LiteralKind::kNull;
      });
  Test test{.field = std::move(field), .op = op};
  for (const Literal& literal : literals) {
    if (literal.kind == LiteralKind::kNull) {
      continue;
    }
    ASSIGN_OR_RETURN(Value value, BindValue(test.field, literal, as_numbers));
    test.values.push_back(std::move(value));
  }
  if (test.values.empty() && op != Operator::kIsNull) {
    return WrongAt(offset, "a list needs a value that is not null");
  }
  return Node{.test = std::move(test)};
}

bool MayBeNegated(const Node& node) {
  if (node.kind == NodeKind::kTest) {
    const FieldKind kind = node.test.field.kind;
    return kind == FieldKind::kColumn || kind == FieldKind::kSpec;
  }
  return std::ranges::all_of(node.children, MayBeNegated);
}

}  // namespace projections::search
