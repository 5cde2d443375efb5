// Expressions and what they come to, as texts.

#pragma once

#include <string>
#include <string_view>

#include "projections/cel/evaluator.h"
#include "projections/cel/json.h"
#include "projections/cel/parser.h"

namespace cel_test {

inline std::string Message(const absl::Status& status) {
  return std::string(status.message().data(), status.message().size());
}

// As JSON, with `some(...)` or `none` for optionals; or the error. `v` is the value of `v`.
inline std::string Result(std::string_view source, std::string_view v = "null") {
  namespace cel = projections::cel;
  const auto expression = cel::Parse(source, {"v"});
  if (!expression.ok()) {
    return "refused " + Message(expression.status());
  }
  const auto value = cel::ValueOfJson(v);
  const auto result = cel::Evaluate(*expression, {value.ok() ? *value : cel::Value()});
  if (!result.ok()) {
    return "error " + Message(result.status());
  }
  const bool is_optional = result->kind() == cel::Value::Kind::kOptional;
  if (is_optional && result->optional() == nullptr) {
    return "none";
  }
  const auto json = cel::JsonOfValue(is_optional ? *result->optional() : *result, 1 << 20);
  const std::string text = json.ok() ? *json : Message(json.status());
  return is_optional ? "some(" + text + ")" : text;
}

}  // namespace cel_test
