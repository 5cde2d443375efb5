#include "projections/cel/conversions.h"

#include <charconv>
#include <string>
#include <utility>

#include "engine/base/status_macros.h"
#include "projections/cel/functions.h"
#include "projections/cel/json.h"
#include "projections/cel/wrong_kind.h"

namespace projections::cel {
namespace {

template <class Number>
absl::StatusOr<Value> NumberOf(const std::string& text) {
  Number number{};
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (text.empty() || read.ec != std::errc() || read.ptr != end) {
    return absl::InvalidArgumentError("the text is no number, or out of range");
  }
  return Value(number);
}

// `least` and `beyond` are doubles that bound the kind exactly.
template <class Whole>
absl::StatusOr<Value> ToWhole(const Value& value, double least, double beyond) {
  switch (value.kind()) {
    case Value::Kind::kInt:
      if (std::in_range<Whole>(value.integer())) {
        return Value(static_cast<Whole>(value.integer()));
      }
      break;
    case Value::Kind::kUint:
      if (std::in_range<Whole>(value.natural())) {
        return Value(static_cast<Whole>(value.natural()));
      }
      break;
    case Value::Kind::kDouble:
      if (value.real() >= least && value.real() < beyond) {
        return Value(static_cast<Whole>(value.real()));
      }
      break;
    case Value::Kind::kText:
      return NumberOf<Whole>(value.text());
    default:
      return WrongKind("the conversion", value);
  }
  return absl::InvalidArgumentError("the number is out of range");
}

absl::StatusOr<Value> ToDouble(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kInt:
      return Value(static_cast<double>(value.integer()));
    case Value::Kind::kUint:
      return Value(static_cast<double>(value.natural()));
    case Value::Kind::kDouble:
      return value;
    case Value::Kind::kText:
      return NumberOf<double>(value.text());
    default:
      return WrongKind("double()", value);
  }
}

absl::StatusOr<Value> ToText(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kText:
      return value;
    case Value::Kind::kBool:
    case Value::Kind::kInt:
    case Value::Kind::kUint:
    case Value::Kind::kDouble: {
      ASSIGN_OR_RETURN(std::string text, JsonOfValue(value, kMaxJsonBytes));
      return Value(std::move(text));
    }
    default:
      return WrongKind("string()", value);
  }
}

absl::StatusOr<Value> ToBool(const Value& value) {
  if (value.kind() == Value::Kind::kBool) {
    return value;
  }
  if (value.kind() == Value::Kind::kText && (value.text() == "true" || value.text() == "false")) {
    return Value(value.text() == "true");
  }
  return WrongKind("bool()", value);
}

}  // namespace

absl::StatusOr<Value> Convert(Function function, const Value& value) {
  switch (function) {
    case Function::kToInt:
      return ToWhole<std::int64_t>(value, -9223372036854775808.0, 9223372036854775808.0);
    case Function::kToUint:
      return ToWhole<std::uint64_t>(value, 0, 18446744073709551616.0);
    case Function::kToDouble:
      return ToDouble(value);
    case Function::kToText:
      return ToText(value);
    case Function::kToBool:
      return ToBool(value);
    default:
      return value;  // dyn()
  }
}

}  // namespace projections::cel
