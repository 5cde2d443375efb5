#include "projections/search/tree.h"

#include <array>
#include <string_view>

namespace projections::search {
namespace {

std::string_view OperatorText(Operator op) {
  static constexpr std::array<std::string_view, 11> kTexts = {
      " = ",  " != ",      " < ",    " <= ",    " > ",     " >= ",
      " in ", " between ", " like ", " ilike ", " is null"};
  return kTexts[static_cast<std::size_t>(op)];
}

std::string_view ConditionMember(FieldKind kind) {
  switch (kind) {
    case FieldKind::kConditionLastUpdated:
      return ".last_updated_time";
    case FieldKind::kConditionLastTransition:
      return ".last_transition_time";
    case FieldKind::kConditionObservedGeneration:
      return ".observed_generation";
    default:
      return "";
  }
}

void AppendQuoted(std::string_view text, std::string& out) {
  out += '\'';
  for (const char c : text) {
    if (c == '\'' || c == '\\') {
      out += '\\';
    }
    out += c;
  }
  out += '\'';
}

void AppendValue(const Value& value, std::string& out) {
  if (const auto* text = std::get_if<std::string>(&value)) {
    AppendQuoted(*text, out);
  } else if (const auto* number = std::get_if<Decimal>(&value)) {
    out += number->ToText();
  } else {
    AppendQuoted(engine::FormatTimestamp(std::get<engine::Timestamp>(value)), out);
  }
}

void AppendTest(const Test& test, std::string& out) {
  out += Print(test.field);
  out += OperatorText(test.op);
  out += test.op == Operator::kIn ? "[" : "";
  for (std::size_t i = 0; i < test.values.size(); ++i) {
    if (i > 0) {
      out += test.op == Operator::kIn ? ", " : " and ";
    }
    AppendValue(test.values[i], out);
  }
  out += test.op == Operator::kIn ? "]" : "";
}

void AppendNode(const Node& node, std::string& out) {
  if (node.kind == NodeKind::kTest) {
    AppendTest(node.test, out);
    return;
  }
  if (node.kind == NodeKind::kNot) {
    out += "not ";
  }
  // A group in a group keeps its parentheses, so that it stays one.
  for (const Node& child : node.children) {
    if (&child != node.children.data()) {
      out += node.kind == NodeKind::kAnd ? " and " : " or ";
    }
    const bool is_group = child.kind == NodeKind::kAnd || child.kind == NodeKind::kOr;
    out += is_group ? "(" : "";
    AppendNode(child, out);
    out += is_group ? ")" : "";
  }
}

}  // namespace

std::string Print(const Field& field) {
  switch (field.kind) {
    case FieldKind::kColumn:
      return std::string(ColumnName(field.column));
    case FieldKind::kLabel:
      return "labels." + field.name;
    case FieldKind::kSpec: {
      std::string text = "spec";
      for (const std::string& key : field.path) {
        text += "." + key;
      }
      return text;
    }
    default:
      return "status.conditions." + field.name + std::string(ConditionMember(field.kind));
  }
}

std::string Print(const Node& node) {
  std::string text;
  AppendNode(node, text);
  return text;
}

}  // namespace projections::search
