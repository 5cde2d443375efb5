#include "api/spec_schema/values.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <absl/hash/hash.h>

namespace api {
namespace {

__extension__ using Uint128 = unsigned __int128;

// An integer: its sign and what is left of it.
struct Integer {
  bool negative = false;
  std::uint64_t magnitude = 0;

  friend std::strong_ordering operator<=>(const Integer& a, const Integer& b) {
    if (a.negative != b.negative) {
      return a.negative ? std::strong_ordering::less : std::strong_ordering::greater;
    }
    return a.negative ? b.magnitude <=> a.magnitude : a.magnitude <=> b.magnitude;
  }
  friend bool operator==(const Integer& a, const Integer& b) = default;
};

Integer IntegerOf(const JsonValue& number) {
  if (const std::uint64_t* natural = number.if_uint64()) {
    return {false, *natural};
  }
  const std::int64_t whole = number.get_int64();
  const auto bits = static_cast<std::uint64_t>(whole);
  return {whole < 0, whole < 0 ? ~bits + 1 : bits};
}

constexpr double kTwoTo64 = 18446744073709551616.0;

std::weak_ordering CompareToDouble(const Integer& a, double b) {
  if (b >= kTwoTo64) {
    return std::weak_ordering::less;
  }
  if (b <= -kTwoTo64) {
    return std::weak_ordering::greater;
  }
  const double whole = std::trunc(b);
  // Minus zero is zero.
  const Integer integer{whole < 0, static_cast<std::uint64_t>(std::fabs(whole))};
  if (const auto order = a <=> integer; order != std::strong_ordering::equal) {
    return order;
  }
  return whole < b   ? std::weak_ordering::less
         : whole > b ? std::weak_ordering::greater
                     : std::weak_ordering::equivalent;
}

std::weak_ordering CompareDoubles(double a, double b) {
  return a < b   ? std::weak_ordering::less
         : a > b ? std::weak_ordering::greater
                 : std::weak_ordering::equivalent;
}

// digits * 10^exponent; the sign does not matter to multiples.
struct Decimal {
  std::uint64_t digits = 0;
  int exponent = 0;
};

// The shortest decimal that is read as this number is the one that was written.
Decimal DecimalOf(const JsonValue& number) {
  if (!number.is_double()) {
    return {IntegerOf(number).magnitude, 0};
  }
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, std::fabs(number.get_double()),
                                 std::chars_format::scientific);
  const std::string_view whole(text, static_cast<std::size_t>(end.ptr - text));
  const std::size_t e = whole.find('e');
  Decimal decimal;
  for (const char c : whole.substr(0, e)) {
    if (c != '.') {
      decimal.digits = decimal.digits * 10 + static_cast<std::uint64_t>(c - '0');
    }
  }
  const std::string_view exponent = whole.substr(e + (whole[e + 1] == '+' ? 2 : 1));
  std::from_chars(exponent.data(), exponent.data() + exponent.size(), decimal.exponent);
  decimal.exponent -= e > 2 ? static_cast<int>(e) - 2 : 0;
  return decimal;
}

// Whether digits * 10^power is a multiple of `divisor`.
bool PowerIsMultiple(std::uint64_t digits, int power, std::uint64_t divisor) {
  Uint128 rest = digits % divisor;
  for (; power > 0 && rest != 0; --power) {
    rest = rest * 10 % divisor;
  }
  return rest == 0;
}

std::size_t Mix(std::size_t a, std::size_t b) {
  return absl::Hash<std::pair<std::size_t, std::size_t>>()({a, b});
}

std::size_t HashNumber(const JsonValue& number) {
  if (!number.is_double()) {
    const Integer integer = IntegerOf(number);
    return Mix(integer.negative ? 1 : 0, integer.magnitude);
  }
  const double value = number.get_double();
  if (IsWhole(number) && std::fabs(value) < kTwoTo64) {
    return Mix(value < 0 ? 1 : 0, static_cast<std::uint64_t>(std::fabs(value)));
  }
  return absl::Hash<double>()(value);
}

std::size_t HashText(std::string_view text) {
  return absl::Hash<std::pair<std::size_t, std::string>>()({text.size(), std::string(text)});
}

bool EqualObjects(const JsonObject& a, const JsonObject& b) {
  if (a.size() != b.size()) {
    return false;
  }
  return std::ranges::all_of(a, [&b](const auto& member) {
    const JsonValue* other = b.if_contains(member.key());
    return other != nullptr && EqualValues(member.value(), *other);
  });
}

}  // namespace

std::weak_ordering CompareNumbers(const JsonValue& a, const JsonValue& b) {
  if (a.is_double() && b.is_double()) {
    return CompareDoubles(a.get_double(), b.get_double());
  }
  if (b.is_double()) {
    return CompareToDouble(IntegerOf(a), b.get_double());
  }
  if (a.is_double()) {
    return 0 <=> CompareToDouble(IntegerOf(b), a.get_double());
  }
  return IntegerOf(a) <=> IntegerOf(b);
}

bool IsWhole(const JsonValue& number) {
  return !number.is_double() || std::trunc(number.get_double()) == number.get_double();
}

bool IsPositive(const JsonValue& number) {
  return CompareNumbers(number, JsonValue(0)) > 0;
}

bool IsMultipleOf(const JsonValue& number, const JsonValue& divisor) {
  const Decimal a = DecimalOf(number);
  Decimal b = DecimalOf(divisor);
  if (a.exponent >= b.exponent) {
    return PowerIsMultiple(a.digits, a.exponent - b.exponent, b.digits);
  }
  // a.digits has to be a multiple of b.digits * 10^n; once that is larger, only zero is.
  Uint128 scaled = b.digits;
  for (int n = b.exponent - a.exponent; n > 0 && scaled <= a.digits; --n) {
    scaled *= 10;
  }
  return a.digits % scaled == 0;
}

bool EqualValues(const JsonValue& a, const JsonValue& b) {
  if (a.is_number() && b.is_number()) {
    return CompareNumbers(a, b) == std::weak_ordering::equivalent;
  }
  if (a.kind() != b.kind()) {
    return false;
  }
  if (a.is_object()) {
    return EqualObjects(a.get_object(), b.get_object());
  }
  if (a.is_array()) {
    return std::ranges::equal(a.get_array(), b.get_array(), EqualValues);
  }
  return a == b;
}

std::size_t HashValue(const JsonValue& value) {
  const auto kind = static_cast<std::size_t>(value.kind());
  if (value.is_number()) {
    return HashNumber(value);
  }
  if (const auto* text = value.if_string()) {
    return HashText({text->data(), text->size()});
  }
  std::size_t hash = Mix(kind, value.is_bool() && value.get_bool() ? 1 : 0);
  if (const JsonArray* array = value.if_array()) {
    for (const JsonValue& element : *array) {
      hash = Mix(hash, HashValue(element));
    }
  } else if (const JsonObject* object = value.if_object()) {
    std::size_t sum = object->size();
    for (const auto& member : *object) {
      sum += Mix(HashText(member.key()), HashValue(member.value()));
    }
    hash = Mix(hash, sum);
  }
  return hash;
}

bool AllDiffer(const JsonArray& array) {
  std::vector<std::pair<std::size_t, const JsonValue*>> hashed;
  hashed.reserve(array.size());
  for (const JsonValue& element : array) {
    hashed.emplace_back(HashValue(element), &element);
  }
  std::ranges::sort(hashed, {}, &std::pair<std::size_t, const JsonValue*>::first);
  for (std::size_t first = 0; first < hashed.size(); ++first) {
    for (std::size_t other = first + 1;
         other < hashed.size() && hashed[other].first == hashed[first].first; ++other) {
      if (EqualValues(*hashed[first].second, *hashed[other].second)) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace api
