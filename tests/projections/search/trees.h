// Random searches, for tests of what is done with them.

#pragma once

#include <string>
#include <utility>
#include <vector>

#include "projections/search/tree.h"
#include "tests/support/seeded_random.h"

namespace projections::search {

// Values are few, so that rows and searches meet. One thread.
class RandomSearch {
 public:
  explicit RandomSearch(support::SeededRandom& random) : random_(random) {}

  Node Tree(int depth, bool is_negated = false) {
    const std::size_t shape = depth == 0 ? 0 : random_.Below(6);
    if (shape < 2) {
      return {.test = AnyTest(is_negated)};
    }
    if (shape == 2) {
      return {.kind = NodeKind::kNot, .children = {Tree(depth - 1, true)}};
    }
    Node group{.kind = shape == 3 ? NodeKind::kOr : NodeKind::kAnd};
    for (std::size_t i = random_.Below(2) + 2; i > 0; --i) {
      group.children.push_back(Tree(depth - 1, is_negated));
    }
    return group;
  }

  std::string Key() { return Pick({"env", "team", "app.io/part-of"}); }
  std::string Text() { return Pick({"a", "b", "it's \\ 100%"}); }
  std::string Name() { return Pick({"n0", "n1", "n2", "n3"}); }
  std::string Type() { return Pick({"Reconciled", "LastKnownReconciled"}); }
  engine::Timestamp Time() { return {1'780'000'000'000'000 + static_cast<int>(random_.Below(60))}; }
  Decimal Number() { return Decimal(static_cast<std::int64_t>(random_.Below(4))); }
  Field Spec() {
    return {.kind = FieldKind::kSpec,
            .path = random_.Below(2) == 0 ? std::vector<std::string>{"size"}
                                          : std::vector<std::string>{"deepKey", "my-key"}};
  }

 private:
  std::string Pick(std::vector<std::string> from) { return from[random_.Below(from.size())]; }

  Test AnyTest(bool is_negated) {
    switch (random_.Below(is_negated ? 5 : 9)) {
      case 0:
        return TextTest(Spec());
      case 1:
        return Compared(Spec(), [this] { return Value(Number()); }, 8);
      case 2:
        return Compared(Column(ResourceColumn::kGeneration), [this] { return Value(Number()); }, 8);
      case 3:
        return Compared(
            Column(random_.Below(2) == 0 ? ResourceColumn::kCreatedTime
                                         : ResourceColumn::kDeletedTime),
            [this] { return Value(Time()); }, 8);
      case 4:
        return TextTest(Column(ResourceColumn::kName));
      case 5:
        return {.field = {.kind = FieldKind::kConditionStatus, .name = Type()},
                .op = Operator::kEq,
                .values = {Pick({"True", "False"})}};
      case 6:
        return Compared(
            {.kind = FieldKind::kConditionLastUpdated, .name = Type()},
            [this] { return Value(Time()); }, 6);
      default:
        return TextTest({.kind = FieldKind::kLabel, .name = Key()});
    }
  }

  static Field Column(ResourceColumn column) {
    return {.kind = FieldKind::kColumn, .column = column};
  }

  Test TextTest(Field field) {
    const bool is_name = field.kind == FieldKind::kColumn;
    const auto text = [this, is_name] { return Value(is_name ? Name() : Text()); };
    switch (random_.Below(4)) {
      case 0:
        return {.field = std::move(field),
                .op = random_.Below(2) == 0 ? Operator::kLike : Operator::kILike,
                .values = {Pick({"%a%", "_", "N%", "%2"})}};
      case 1:
        return Compared(std::move(field), text, 8);
      default:
        return {.field = std::move(field), .op = Operator::kEq, .values = {text()}};
    }
  }

  // One of the first `operators`, or whether it is there at all.
  template <typename Make>
  Test Compared(Field field, const Make& make, std::size_t operators) {
    if (random_.Below(8) == 0) {
      return {.field = std::move(field), .op = Operator::kIsNull};
    }
    Test test{.field = std::move(field), .op = static_cast<Operator>(random_.Below(operators))};
    std::size_t values = 1;
    if (test.op == Operator::kBetween) {
      values = 2;
    } else if (test.op == Operator::kIn) {
      values = random_.Below(3) + 1;
    }
    for (std::size_t i = 0; i < values; ++i) {
      test.values.push_back(make());
    }
    return test;
  }

  support::SeededRandom& random_;
};

}  // namespace projections::search
