#include "projections/search/matcher.h"

#include <algorithm>
#include <compare>
#include <string>
#include <utility>
#include <variant>

#include "engine/base/guard.h"
#include "projections/search/json_scan.h"
#include "schemas/codec.h"

namespace projections::search {
namespace {

std::string Joined(const std::vector<std::string>& path) {
  std::string text;
  for (const std::string& key : path) {
    text += text.empty() ? "" : ".";
    text += key;
  }
  return text;
}

std::string_view SpecOf(const ResourceEntry& entry) {
  return schemas::Text(entry.table().spec());
}

// How an outlined number compares with a value; empty: it does not say.
std::optional<std::strong_ordering> Compare(const OutlinedMember& member,
                                            const std::optional<NumberCode>& value) {
  if (!value) {
    return std::nullopt;
  }
  if (const std::uint64_t code = member.code; code != value->code) {
    return code <=> std::uint64_t{value->code};
  }
  const bool are_exact = member.kind() == MemberKind::kExactNumber && value->is_exact;
  return GUARD("search.rounded", are_exact) ? std::optional(std::strong_ordering::equal)
                                            : std::nullopt;
}

// Whether the comparison `holds`, where it says.
template <typename Holds>
std::optional<Truth> Decide(const std::optional<std::strong_ordering>& order, const Holds& holds) {
  return order ? std::optional(TruthOf(holds(*order))) : std::nullopt;
}

std::optional<Truth> TruthOfNumber(Operator op, const OutlinedMember& member,
                                   const std::vector<std::optional<NumberCode>>& values) {
  const auto first = Compare(member, values.front());
  switch (op) {
    case Operator::kEq:
      return Decide(first, [](auto order) { return order == 0; });
    case Operator::kNe:
      return Decide(first, [](auto order) { return order != 0; });
    case Operator::kLt:
      return Decide(first, [](auto order) { return order < 0; });
    case Operator::kLe:
      return Decide(first, [](auto order) { return order <= 0; });
    case Operator::kGt:
      return Decide(first, [](auto order) { return order > 0; });
    case Operator::kGe:
      return Decide(first, [](auto order) { return order >= 0; });
    case Operator::kBetween: {
      const auto last = Compare(member, values.back());
      if ((first && *first < 0) || (last && *last > 0)) {
        return Truth::kFalse;
      }
      return first && last ? std::optional(Truth::kTrue) : std::nullopt;
    }
    case Operator::kIn: {
      bool is_known = true;
      for (const auto& value : values) {
        const auto order = Compare(member, value);
        if (order && *order == 0) {
          return Truth::kTrue;
        }
        is_known = is_known && order;
      }
      return is_known ? std::optional(Truth::kFalse) : std::nullopt;
    }
    default:
      return std::nullopt;
  }
}

// Two texts with one code may be one.
std::optional<Truth> TruthOfText(Operator op, const OutlinedMember& member,
                                 const std::vector<std::uint32_t>& values) {
  const bool is_none = std::ranges::find(values, member.code) == values.end();
  switch (op) {
    case Operator::kEq:
    case Operator::kIn:
      return is_none ? std::optional(Truth::kFalse) : std::nullopt;
    case Operator::kNe:
      return is_none ? std::optional(Truth::kTrue) : std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

Matcher::Matcher(const Node& search, const SpecPaths& paths) : root_(PartOf(search, paths)) {}

Matcher::Part Matcher::PartOf(const Node& node, const SpecPaths& paths) {
  if (node.kind == NodeKind::kTest) {
    return TestPart(node.test, paths);
  }
  Part part{.kind = node.kind};
  for (const Node& child : node.children) {
    part.children.push_back(PartOf(child, paths));
  }
  // Neither `and` nor `or` asks for an order.
  std::ranges::stable_sort(part.children, {}, &Part::last);
  part.first = part.children.front().first;
  part.last = part.children.back().last;
  return part;
}

Matcher::Part Matcher::TestPart(const Test& test, const SpecPaths& paths) {
  Part part{.test = &test};
  if (test.field.kind != FieldKind::kSpec) {
    const bool is_of_entry =
        test.field.kind == FieldKind::kColumn || test.field.kind == FieldKind::kLabel;
    part.first = part.last = is_of_entry ? Reads::kRecord : Reads::kStatus;
    return part;
  }
  part.path = paths.Find(Joined(test.field.path));
  for (const Value& value : test.values) {
    if (const auto* number = std::get_if<Decimal>(&value)) {
      part.numbers.push_back(NumberCodeOf(number->ToText()));
    } else {
      part.texts.push_back(TextCodeOf(std::get<std::string>(value)));
    }
  }
  const bool is_decided = IsOfNumbers(test) || test.op == Operator::kEq ||
                          test.op == Operator::kNe || test.op == Operator::kIn ||
                          test.op == Operator::kIsNull;
  part.first = Reads::kOutline;
  part.last = is_decided ? Reads::kOutline : Reads::kSpec;
  return part;
}

std::optional<Truth> Matcher::TruthOfOutlined(const Part& part, const OutlinedMember& member) {
  const MemberKind kind = member.kind();
  if (part.test->op == Operator::kIsNull) {
    return TruthOf(kind == MemberKind::kNull);
  }
  const bool is_number = kind == MemberKind::kNumber || kind == MemberKind::kExactNumber;
  const bool is_of_numbers = !part.numbers.empty();
  if (kind == MemberKind::kNull || (kind == MemberKind::kText && is_of_numbers)) {
    return Truth::kUnknown;
  }
  if (is_number && is_of_numbers) {
    return TruthOfNumber(part.test->op, member, part.numbers);
  }
  return kind == MemberKind::kText ? TruthOfText(part.test->op, member, part.texts) : std::nullopt;
}

Truth Matcher::TruthOfSpec(const Part& part, const ResourceEntry& entry) {
  const SpecOutline& outline = entry.spec_outline();
  const OutlinedMember* const member = part.path ? outline.Find(*part.path) : nullptr;
  if (member == nullptr) {
    return GUARD("search.outline-complete", outline.is_complete())
               ? TruthOfMember(*part.test, {})
               : TruthOfTest(*part.test, entry, nullptr);
  }
  if (const auto truth = TruthOfOutlined(part, *member)) {
    return *truth;
  }
  return TruthOfMember(*part.test, ValueAt(SpecOf(entry).substr(member->place)));
}

bool Matcher::Matches(const ResourceEntry& entry, const StatusesImage* statuses) const {
  return TruthOfTree(root_, [&](const Part& part) {
           return part.test->field.kind == FieldKind::kSpec
                      ? TruthOfSpec(part, entry)
                      : TruthOfTest(*part.test, entry, statuses);
         }) == Truth::kTrue;
}

}  // namespace projections::search
