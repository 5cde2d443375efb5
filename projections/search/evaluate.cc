#include "projections/search/evaluate.h"

#include <algorithm>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "projections/search/json_scan.h"
#include "projections/search/like.h"
#include "schemas/codec.h"

namespace projections::search {
namespace {

// What a field of a resource says, as the type that a test compares. Text may be in `scratch`.
using Cell = std::variant<std::monostate, std::string_view, Decimal, engine::Timestamp>;

std::strong_ordering Compare(const Cell& cell, const Value& value) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    return std::get<std::string_view>(cell).compare(*text) <=> 0;
  }
  if (const auto* number = std::get_if<Decimal>(&value)) {
    return std::get<Decimal>(cell) <=> *number;
  }
  return std::get<engine::Timestamp>(cell) <=> std::get<engine::Timestamp>(value);
}

bool Holds(const Test& test, const Cell& cell) {
  const auto compare = [&](std::size_t i) { return Compare(cell, test.values[i]); };
  switch (test.op) {
    case Operator::kEq:
      return compare(0) == 0;
    case Operator::kNe:
      return compare(0) != 0;
    case Operator::kLt:
      return compare(0) < 0;
    case Operator::kLe:
      return compare(0) <= 0;
    case Operator::kGt:
      return compare(0) > 0;
    case Operator::kGe:
      return compare(0) >= 0;
    case Operator::kBetween:
      return compare(0) >= 0 && compare(1) <= 0;
    case Operator::kIn:
      return std::ranges::any_of(test.values,
                                 [&cell](const Value& value) { return Compare(cell, value) == 0; });
    case Operator::kLike:
      return IsLike(std::get<std::string_view>(cell), std::get<std::string>(test.values[0]));
    case Operator::kILike:
      return IsLike(LowerAscii(std::get<std::string_view>(cell)),
                    LowerAscii(std::get<std::string>(test.values[0])));
    case Operator::kIsNull:
      break;
  }
  return false;
}

Truth TruthOfCell(const Test& test, const Cell& cell) {
  const bool is_absent = std::holds_alternative<std::monostate>(cell);
  if (test.op == Operator::kIsNull) {
    return TruthOf(is_absent);
  }
  return is_absent ? Truth::kUnknown : TruthOf(Holds(test, cell));
}

Cell ReadMember(const JsonSlice& member, bool as_number, std::string& scratch) {
  if (member.kind == JsonKind::kMissing || member.kind == JsonKind::kNull) {
    return {};
  }
  if (as_number) {
    auto number = member.kind == JsonKind::kNumber ? Decimal::Parse(member.text) : std::nullopt;
    return number ? Cell(*std::move(number)) : Cell();
  }
  return member.kind == JsonKind::kString ? TextOf(member, scratch) : member.text;
}

class Row {
 public:
  Row(const ResourceEntry& entry, const StatusesImage* statuses)
      : entry_(entry), statuses_(statuses) {}

  Truth Judge(const Test& test) { return TruthOfCell(test, Read(test.field, IsOfNumbers(test))); }

 private:
  Cell Read(const Field& field, bool as_number) {
    switch (field.kind) {
      case FieldKind::kColumn:
        return ReadColumn(field.column);
      case FieldKind::kLabel:
        return ReadLabel(field.name);
      case FieldKind::kSpec:
        return ReadSpec(field, as_number);
      default:
        return ReadCondition(field);
    }
  }

  Cell ReadColumn(ResourceColumn column) const {
    const ColumnValue value = ValueOf(entry_, column);
    if (value.absent) {
      return {};
    }
    switch (column) {
      case ResourceColumn::kGeneration:
        return Decimal(value.number);
      case ResourceColumn::kCreatedTime:
      case ResourceColumn::kUpdatedTime:
      case ResourceColumn::kDeletedTime:
        return engine::Timestamp{value.number};
      default:
        return value.text;
    }
  }

  Cell ReadLabel(std::string_view key) const {
    const auto value = LabelOf(entry_, key);
    return value ? Cell(*value) : Cell();
  }

  Cell ReadSpec(const Field& field, bool as_number) {
    const std::string_view spec = schemas::Text(entry_.table().spec());
    return ReadMember(FindMember(spec, field.path), as_number, scratch_);
  }

  Cell ReadCondition(const Field& field) const {
    const StatusEntry* status = statuses_ == nullptr ? nullptr : statuses_->Find(entry_.id());
    const auto* condition = status == nullptr ? nullptr : status->FindCondition(field.name);
    if (condition == nullptr) {
      return {};
    }
    switch (field.kind) {
      case FieldKind::kConditionLastUpdated:
        return engine::Timestamp{condition->last_updated_time()};
      case FieldKind::kConditionLastTransition:
        return engine::Timestamp{condition->last_transition_time()};
      case FieldKind::kConditionObservedGeneration:
        return Decimal(condition->observed_generation());
      default:
        return StatusText(condition->status());
    }
  }

  static std::string_view StatusText(schemas::ConditionStatus status) {
    switch (status) {
      case schemas::ConditionStatus::kTrue:
        return "True";
      case schemas::ConditionStatus::kFalse:
        return "False";
      default:
        return "Unknown";
    }
  }

  const ResourceEntry& entry_;
  const StatusesImage* statuses_;
  std::string scratch_;  // Of the text that is being compared.
};

}  // namespace

bool IsOfNumbers(const Test& test) {
  return !test.values.empty() && std::holds_alternative<Decimal>(test.values.front());
}

Truth TruthOfTest(const Test& test, const ResourceEntry& entry, const StatusesImage* statuses) {
  return Row(entry, statuses).Judge(test);
}

Truth TruthOfMember(const Test& test, const JsonSlice& member) {
  std::string scratch;
  return TruthOfCell(test, ReadMember(member, IsOfNumbers(test), scratch));
}

bool Matches(const Node& node, const ResourceEntry& entry, const StatusesImage* statuses) {
  return TruthOfTree(node, [&](const Node& test) {
           return TruthOfTest(test.test, entry, statuses);
         }) == Truth::kTrue;
}

}  // namespace projections::search
