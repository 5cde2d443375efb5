#include <cmath>
#include <cstdint>
#include <limits>

#include <absl/strings/str_format.h>

#include "projections/cel/functions.h"
#include "projections/cel/wrong_kind.h"

namespace projections::cel {
namespace {

absl::Status OutOfRange() {
  return absl::InvalidArgumentError("the result is out of range");
}

template <class Whole>
absl::StatusOr<Value> Divide(Function function, Whole a, Whole b) {
  if (b == 0) {
    return absl::InvalidArgumentError("division by zero");
  }
  if constexpr (std::numeric_limits<Whole>::is_signed) {
    if (a == std::numeric_limits<Whole>::min() && b == -1) {
      return OutOfRange();
    }
  }
  return Value(function == Function::kDivide ? a / b : a % b);
}

template <class Whole>
absl::StatusOr<Value> OfWholes(Function function, Whole a, Whole b) {
  Whole result = 0;
  bool overflow = false;
  switch (function) {
    case Function::kAdd:
      overflow = __builtin_add_overflow(a, b, &result);
      break;
    case Function::kSubtract:
      overflow = __builtin_sub_overflow(a, b, &result);
      break;
    case Function::kMultiply:
      overflow = __builtin_mul_overflow(a, b, &result);
      break;
    default:
      return Divide(function, a, b);
  }
  return overflow ? absl::StatusOr<Value>(OutOfRange()) : Value(result);
}

absl::StatusOr<Value> OfReals(Function function, double a, double b) {
  switch (function) {
    case Function::kAdd:
      return Value(a + b);
    case Function::kSubtract:
      return Value(a - b);
    case Function::kMultiply:
      return Value(a * b);
    case Function::kDivide:
      return Value(a / b);
    default:
      return absl::InvalidArgumentError("% takes no doubles");
  }
}

}  // namespace

absl::StatusOr<Value> Arithmetic(Function function, const Value& a, const Value& b) {
  if (a.kind() != b.kind()) {
    return WrongKinds("the operator", a, b);
  }
  switch (a.kind()) {
    case Value::Kind::kInt:
      return OfWholes(function, a.integer(), b.integer());
    case Value::Kind::kUint:
      return OfWholes(function, a.natural(), b.natural());
    case Value::Kind::kDouble:
      return OfReals(function, a.real(), b.real());
    case Value::Kind::kText:
      if (function == Function::kAdd) {
        return Value(a.text() + b.text());
      }
      break;
    case Value::Kind::kList:
      if (function == Function::kAdd) {
        Value::List both = a.list();
        both.insert(both.end(), b.list().begin(), b.list().end());
        return Value(std::move(both));
      }
      break;
    default:
      break;
  }
  return WrongKinds("the operator", a, b);
}

absl::StatusOr<Value> Negate(const Value& a) {
  if (a.kind() == Value::Kind::kDouble) {
    return Value(-a.real());
  }
  if (a.kind() == Value::Kind::kInt) {
    return OfWholes(Function::kSubtract, std::int64_t{0}, a.integer());
  }
  return absl::InvalidArgumentError(absl::StrFormat("- does not take %s", a.kind_name()));
}

}  // namespace projections::cel
