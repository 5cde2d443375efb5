#include "projections/cel/value.h"

#include <array>
#include <cmath>

namespace projections::cel {
namespace {

constexpr double kTwoTo63 = 9223372036854775808.0;
constexpr double kTwoTo64 = 18446744073709551616.0;

template <class T>
std::weak_ordering Order(T a, T b) {
  return a < b   ? std::weak_ordering::less
         : b < a ? std::weak_ordering::greater
                 : std::weak_ordering::equivalent;
}

// REQUIRES: `b` is no NaN.
template <class Whole>
std::weak_ordering OrderWithReal(Whole a, double b, double least, double beyond) {
  if (b < least) {
    return std::weak_ordering::greater;
  }
  if (b >= beyond) {
    return std::weak_ordering::less;
  }
  const double whole = std::trunc(b);
  const auto order = Order(a, static_cast<Whole>(whole));
  return order == std::weak_ordering::equivalent ? Order(whole, b) : order;
}

std::weak_ordering Reverse(std::weak_ordering order) {
  return 0 <=> order;
}

std::optional<std::weak_ordering> CompareReal(const Value& a, double b) {
  if (std::isnan(b)) {
    return std::nullopt;
  }
  switch (a.kind()) {
    case Value::Kind::kInt:
      return OrderWithReal(a.integer(), b, -kTwoTo63, kTwoTo63);
    case Value::Kind::kUint:
      return OrderWithReal(a.natural(), b, 0, kTwoTo64);
    default:
      return std::isnan(a.real()) ? std::nullopt : std::optional(Order(a.real(), b));
  }
}

std::optional<std::weak_ordering> CompareNumbers(const Value& a, const Value& b) {
  if (b.kind() == Value::Kind::kDouble) {
    return CompareReal(a, b.real());
  }
  if (a.kind() == Value::Kind::kDouble) {
    const auto order = CompareReal(b, a.real());
    return order ? std::optional(Reverse(*order)) : std::nullopt;
  }
  if (a.kind() == b.kind()) {
    return a.kind() == Value::Kind::kInt ? Order(a.integer(), b.integer())
                                         : Order(a.natural(), b.natural());
  }
  if (a.kind() == Value::Kind::kUint) {
    return Reverse(*CompareNumbers(b, a));
  }
  return a.integer() < 0 ? std::weak_ordering::less
                         : Order(static_cast<std::uint64_t>(a.integer()), b.natural());
}

bool EqualLists(const Value::List& a, const Value::List& b, std::size_t& looked_at) {
  if (a.size() != b.size()) {
    return false;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!Equal(a[i], b[i], looked_at)) {
      return false;
    }
  }
  return true;
}

bool EqualMaps(const Value::Map& a, const Value::Map& b, std::size_t& looked_at) {
  if (a.size() != b.size()) {
    return false;
  }
  for (auto one = a.begin(), other = b.begin(); one != a.end(); ++one, ++other) {
    if (one->first != other->first || !Equal(one->second, other->second, looked_at)) {
      return false;
    }
  }
  return true;
}

}  // namespace

Value Value::Nothing() {
  static const auto nothing = std::make_shared<const Optional>();
  Value value;
  value.held_ = nothing;
  return value;
}

Value Value::Something(Value value) {
  Optional optional;
  optional.held.push_back(std::move(value));
  Value made;
  made.held_ = std::make_shared<const Optional>(std::move(optional));
  return made;
}

const Value* Value::optional() const {
  const List& held = std::get<std::shared_ptr<const Optional>>(held_)->held;
  return held.empty() ? nullptr : &held.front();
}

std::string_view Value::kind_name() const {
  static constexpr std::array<std::string_view, 9> kNames = {
      "null", "bool", "int", "uint", "double", "string", "list", "map", "optional"};
  return kNames[held_.index()];
}

bool Value::is_number() const {
  return kind() == Kind::kInt || kind() == Kind::kUint || kind() == Kind::kDouble;
}

std::optional<std::weak_ordering> Compare(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    return CompareNumbers(a, b);
  }
  if (a.kind() != b.kind()) {
    return std::nullopt;
  }
  switch (a.kind()) {
    case Value::Kind::kBool:
      return Order(a.boolean(), b.boolean());
    case Value::Kind::kText:
      return a.text() <=> b.text();
    default:
      return std::nullopt;
  }
}

bool Equal(const Value& a, const Value& b, std::size_t& looked_at) {
  ++looked_at;
  if (a.is_number() && b.is_number()) {
    return Compare(a, b) == std::weak_ordering::equivalent;
  }
  if (a.kind() != b.kind()) {
    return false;
  }
  switch (a.kind()) {
    case Value::Kind::kNull:
      return true;
    case Value::Kind::kBool:
      return a.boolean() == b.boolean();
    case Value::Kind::kText:
      looked_at += a.text().size() / 10;
      return a.text() == b.text();
    case Value::Kind::kList:
      return EqualLists(a.list(), b.list(), looked_at);
    case Value::Kind::kMap:
      return EqualMaps(a.map(), b.map(), looked_at);
    case Value::Kind::kOptional: {
      const Value* const one = a.optional();
      const Value* const other = b.optional();
      return (one == nullptr || other == nullptr) ? one == other : Equal(*one, *other, looked_at);
    }
    default:
      return false;
  }
}

}  // namespace projections::cel
