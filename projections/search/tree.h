// What a search means once it is parsed: tests of fields, put together with and, or, not.
//
// Values; thread-compatible, never block.

#pragma once

#include <string>
#include <variant>
#include <vector>

#include "engine/base/clock.h"
#include "projections/resources/order.h"
#include "projections/search/decimal.h"

namespace projections::search {

enum class FieldKind {
  kColumn,
  kLabel,                        // labels.<name>
  kSpec,                         // spec.<path>
  kConditionStatus,              // status.conditions.<name>
  kConditionLastUpdated,         // status.conditions.<name>.last_updated_time
  kConditionLastTransition,      // status.conditions.<name>.last_transition_time
  kConditionObservedGeneration,  // status.conditions.<name>.observed_generation
};

struct Field {
  FieldKind kind = FieldKind::kColumn;
  ResourceColumn column = ResourceColumn::kId;  // Of a column.
  std::string name = {};                        // Of a label or a condition.
  std::vector<std::string> path = {};           // Of a spec.
  friend bool operator==(const Field&, const Field&) = default;
};

enum class Operator { kEq, kNe, kLt, kLe, kGt, kGe, kIn, kBetween, kLike, kILike, kIsNull };

// All values of a test are of one type, which says what is compared: text, numbers or times.
using Value = std::variant<std::string, Decimal, engine::Timestamp>;

struct Test {
  Field field;
  Operator op = Operator::kEq;
  std::vector<Value> values = {};  // kIsNull: none, kBetween: two, kIn: one or more, else one.
  friend bool operator==(const Test&, const Test&) = default;
};

enum class NodeKind { kTest, kAnd, kOr, kNot };

struct Node {
  NodeKind kind = NodeKind::kTest;
  Test test = {};
  std::vector<Node> children = {};  // kAnd, kOr: two or more; kNot: one; kTest: none.
  friend bool operator==(const Node&, const Node&) = default;
};

// A text that parses to an equal tree.
std::string Print(const Node& node);
// `labels.team`, `spec.release.channel`, ...
std::string Print(const Field& field);

}  // namespace projections::search
