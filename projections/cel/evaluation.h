// Evaluation: the walk over the nodes of an expression; the work behind Evaluate of evaluator.h.
//
//   evaluator.cc         nodes that are evaluated once
//   evaluation_folds.cc  the macros that walk lists and maps
//
// Each function returns the value of its node. Fails with kInvalidArgument, naming the byte, and
// with kResourceExhausted at the cost limit. One thread; never blocks. Used once.

#pragma once

#include <cstddef>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "projections/cel/expression.h"

namespace projections::cel {

class Evaluation {
 public:
  // The expression must outlive the object.
  Evaluation(const Expression& expression, const std::vector<Value>& variables);

  absl::StatusOr<Value> Of(NodeId id);

 private:
  // What a macro has come to.
  struct Folded {
    absl::StatusOr<Value> error = Value();  // The first that nothing has outweighed yet.
    bool decided = false;
    std::size_t count = 0;
    Value::List list;
  };

  absl::StatusOr<Value> Select(const Node& node);
  absl::StatusOr<Value> Index(const Node& node);
  // The part of a value, or of what an optional holds; from then on all is optional.
  absl::StatusOr<Value> PartOf(const Node& node, const Value& of, const Value& key);
  absl::StatusOr<Value> Call(const Node& node);
  absl::StatusOr<Value> Apply(const Node& node, const std::vector<Value>& arguments);
  absl::StatusOr<Value> List(const Node& node);
  absl::StatusOr<Value> Map(const Node& node);
  absl::StatusOr<Value> Logic(const Node& node);
  absl::StatusOr<Value> Condition(const Node& node);

  absl::StatusOr<Value> Walk(const Node& node);
  absl::StatusOr<Value::List> Elements(const Node& node);
  absl::Status Step(const Node& node, const Value& element, Folded& folded);
  absl::Status Count(const Node& node, const Value& element, bool holds, Folded& folded);

  absl::Status Spend(std::size_t cost);
  // Whether the value is a bool, and this one.
  static bool Is(const absl::StatusOr<Value>& value, bool wanted);

  const Expression& expression_;
  std::vector<Value> slots_;
  std::size_t spent_ = 0;
};

}  // namespace projections::cel
