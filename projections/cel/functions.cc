#include "projections/cel/functions.h"

#include <algorithm>
#include <string>

#include <absl/strings/str_format.h>
#include <re2/re2.h>

#include "engine/base/status_macros.h"
#include "projections/cel/conversions.h"
#include "projections/cel/json.h"
#include "projections/cel/wrong_kind.h"

namespace projections::cel {
namespace {

using Arguments = std::vector<Value>;

// ---- Texts --------------------------------------------------------------------------------------

absl::StatusOr<Value> Size(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kText:
      return Value(static_cast<std::int64_t>(std::ranges::count_if(
          value.text(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; })));
    case Value::Kind::kList:
      return Value(static_cast<std::int64_t>(value.list().size()));
    case Value::Kind::kMap:
      return Value(static_cast<std::int64_t>(value.map().size()));
    default:
      return WrongKind("size()", value);
  }
}

absl::StatusOr<Value> CompareTexts(Function function, const Value& a, const Value& b,
                                   const re2::RE2* pattern, std::size_t& cost) {
  if (a.kind() != Value::Kind::kText || b.kind() != Value::Kind::kText) {
    return WrongKinds("the function", a, b);
  }
  cost += (a.text().size() + b.text().size()) / 10;
  switch (function) {
    case Function::kStartsWith:
      return Value(a.text().starts_with(b.text()));
    case Function::kEndsWith:
      return Value(a.text().ends_with(b.text()));
    case Function::kContains:
      return Value(a.text().find(b.text()) != std::string::npos);
    default:
      break;
  }
  if (pattern != nullptr) {
    return Value(re2::RE2::PartialMatch(a.text(), *pattern));
  }
  cost += 100;  // Of a pattern that is made on the way.
  ASSIGN_OR_RETURN(const auto compiled, CompilePattern(b.text()));
  return Value(re2::RE2::PartialMatch(a.text(), *compiled));
}

// ---- Values -------------------------------------------------------------------------------------

absl::StatusOr<Value> Relate(Function function, const Value& a, const Value& b) {
  const auto order = Compare(a, b);
  if (!order) {
    const bool is_nan = a.is_number() && b.is_number();
    return is_nan ? absl::StatusOr<Value>(Value(false)) : WrongKinds("the comparison", a, b);
  }
  switch (function) {
    case Function::kLess:
      return Value(*order < 0);
    case Function::kLessOrEqual:
      return Value(*order <= 0);
    case Function::kGreater:
      return Value(*order > 0);
    default:
      return Value(*order >= 0);
  }
}

absl::StatusOr<Value> IsIn(const Value& value, const Value& in, std::size_t& cost) {
  if (in.kind() == Value::Kind::kMap && value.kind() == Value::Kind::kText) {
    return Value(in.map().contains(value.text()));
  }
  if (in.kind() != Value::Kind::kList) {
    return WrongKinds("in", value, in);
  }
  return Value(std::ranges::any_of(
      in.list(), [&](const Value& element) { return Equal(element, value, cost); }));
}

// dig(value, "a.b.0.c"): null where the way ends.
absl::StatusOr<Value> Dig(const Value& value, const Value& path, std::size_t& cost) {
  if (path.kind() != Value::Kind::kText) {
    return WrongKind("dig()", path);
  }
  const Value* at = &value;
  std::string_view rest = path.text();
  while (true) {
    ++cost;
    const std::size_t dot = std::min(rest.find('.'), rest.size());
    const std::string_view step = rest.substr(0, dot);
    const Value* next = nullptr;
    if (at->kind() == Value::Kind::kMap) {
      const auto found = at->map().find(step);
      next = found == at->map().end() ? nullptr : &found->second;
    } else if (at->kind() == Value::Kind::kList) {
      const auto index = Convert(Function::kToUint, Value(std::string(step)));
      next = index.ok() && index->natural() < at->list().size() ? &at->list()[index->natural()]
                                                                : nullptr;
    }
    if (next == nullptr) {
      return Value();
    }
    if (dot == rest.size()) {
      return *next;
    }
    at = next;
    rest.remove_prefix(dot + 1);
  }
}

absl::StatusOr<Value> ToJson(const Value& value, std::size_t& cost) {
  ASSIGN_OR_RETURN(std::string json, JsonOfValue(value, kMaxJsonBytes));
  cost += json.size() / 1000;
  return Value(std::move(json));
}

bool IsZero(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::kNull:
      return true;
    case Value::Kind::kBool:
      return !value.boolean();
    case Value::Kind::kText:
      return value.text().empty();
    case Value::Kind::kList:
      return value.list().empty();
    case Value::Kind::kMap:
      return value.map().empty();
    case Value::Kind::kOptional:
      return value.optional() == nullptr;
    default:
      return Compare(value, Value(std::int64_t{0})) == std::weak_ordering::equivalent;
  }
}

absl::StatusOr<Value> OfOptional(Function function, const Arguments& arguments) {
  if (arguments.front().kind() != Value::Kind::kOptional) {
    return WrongKind("the function of optionals", arguments.front());
  }
  const Value* const held = arguments.front().optional();
  switch (function) {
    case Function::kHasValue:
      return Value(held != nullptr);
    case Function::kOr:
      return held != nullptr ? arguments[0] : arguments[1];
    case Function::kOrValue:
      return held != nullptr ? *held : arguments[1];
    default:
      break;
  }
  return held != nullptr ? absl::StatusOr<Value>(*held)
                         : absl::InvalidArgumentError("the optional holds nothing");
}

}  // namespace

absl::StatusOr<std::shared_ptr<const re2::RE2>> CompilePattern(std::string_view pattern) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(std::int64_t{1} << 20);
  options.set_never_capture(true);
  auto compiled = std::make_shared<const re2::RE2>(std::string(pattern), options);
  if (!compiled->ok()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("the pattern \"%s\": %s", pattern, compiled->error()));
  }
  return compiled;
}

absl::StatusOr<const Value*> Part(const Value& of, const Value& key) {
  if (of.kind() == Value::Kind::kMap && key.kind() == Value::Kind::kText) {
    const auto found = of.map().find(key.text());
    return found == of.map().end() ? nullptr : &found->second;
  }
  if (of.kind() != Value::Kind::kList || !key.is_number()) {
    return WrongKinds("the index", of, key);
  }
  const auto whole = Convert(Function::kToUint, key);
  if (!whole.ok() || Compare(*whole, key) != std::weak_ordering::equivalent ||
      whole->natural() >= of.list().size()) {
    return nullptr;
  }
  return &of.list()[whole->natural()];
}

absl::StatusOr<Value> CallFunction(Function function, const Arguments& arguments,
                                   const re2::RE2* pattern, std::size_t& cost) {
  switch (function) {
    case Function::kEqual:
      return Value(Equal(arguments[0], arguments[1], cost));
    case Function::kDiffer:
      return Value(!Equal(arguments[0], arguments[1], cost));
    case Function::kLess:
    case Function::kLessOrEqual:
    case Function::kGreater:
    case Function::kGreaterOrEqual:
      return Relate(function, arguments[0], arguments[1]);
    case Function::kIn:
      return IsIn(arguments[0], arguments[1], cost);
    case Function::kSize:
      return Size(arguments[0]);
    case Function::kStartsWith:
    case Function::kEndsWith:
    case Function::kContains:
    case Function::kMatches:
      return CompareTexts(function, arguments[0], arguments[1], pattern, cost);
    case Function::kToJson:
      return ToJson(arguments[0], cost);
    case Function::kDig:
      return Dig(arguments[0], arguments[1], cost);
    case Function::kOptionalNone:
      return Value::Nothing();
    case Function::kOptionalOf:
      return Value::Something(arguments[0]);
    case Function::kOptionalOfNonZero:
      return IsZero(arguments[0]) ? Value::Nothing() : Value::Something(arguments[0]);
    case Function::kHasValue:
    case Function::kValue:
    case Function::kOr:
    case Function::kOrValue:
      return OfOptional(function, arguments);
    default:
      return Convert(function, arguments[0]);
  }
}

}  // namespace projections::cel
