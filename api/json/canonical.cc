#include "api/json/canonical.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "api/json/text.h"
#include "engine/base/check.h"

namespace api {
namespace {

// UTF-16 order differs from byte order only where a character beyond U+FFFF (lead byte F0 to F4,
// surrogates D800 to DFFF) meets one of U+E000 to U+FFFF (lead byte EE or EF).
bool Utf16Less(std::string_view a, std::string_view b) {
  const auto [in_a, in_b] = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (in_a == a.end() || in_b == b.end()) {
    return in_a == a.end() && in_b != b.end();
  }
  const auto byte_a = static_cast<unsigned char>(*in_a);
  const auto byte_b = static_cast<unsigned char>(*in_b);
  const bool a_is_beyond = byte_a >= 0xF0;
  const bool b_is_beyond = byte_b >= 0xF0;
  if (a_is_beyond != b_is_beyond && byte_a >= 0xEE && byte_b >= 0xEE) {
    return a_is_beyond;
  }
  return byte_a < byte_b;
}

void AppendObject(const JsonObject& object, std::string& out) {
  std::vector<const boost::json::key_value_pair*> members;
  members.reserve(object.size());
  for (const auto& member : object) {
    members.push_back(&member);
  }
  std::sort(members.begin(), members.end(), [](const auto* a, const auto* b) {
    return Utf16Less({a->key().data(), a->key().size()}, {b->key().data(), b->key().size()});
  });
  out.push_back('{');
  bool first = true;
  for (const auto* member : members) {
    if (!std::exchange(first, false)) {
      out.push_back(',');
    }
    AppendJsonText({member->key().data(), member->key().size()}, out);
    out.push_back(':');
    AppendCanonicalJson(member->value(), out);
  }
  out.push_back('}');
}

void AppendArray(const JsonArray& array, std::string& out) {
  out.push_back('[');
  bool first = true;
  for (const JsonValue& element : array) {
    if (!std::exchange(first, false)) {
      out.push_back(',');
    }
    AppendCanonicalJson(element, out);
  }
  out.push_back(']');
}

template <class Integer>
void AppendInteger(Integer number, std::string& out) {
  std::array<char, 24> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  out.append(digits.data(), end);
}

// Lays `digits` (no point) out as ECMAScript does, with the decimal point after `point` digits.
void AppendFixed(std::string_view digits, int point, std::string& out) {
  const int count = static_cast<int>(digits.size());
  if (point <= 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-point), '0');
    out += digits;
  } else if (point >= count) {
    out += digits;
    out.append(static_cast<std::size_t>(point - count), '0');
  } else {
    out += digits.substr(0, static_cast<std::size_t>(point));
    out.push_back('.');
    out += digits.substr(static_cast<std::size_t>(point));
  }
}

void AppendWithExponent(std::string_view digits, int exponent, std::string& out) {
  out.push_back(digits.front());
  if (digits.size() > 1) {
    out.push_back('.');
    out += digits.substr(1);
  }
  out += exponent < 0 ? "e-" : "e+";
  AppendInteger(std::abs(exponent), out);
}

}  // namespace

void AppendJsonNumber(double number, std::string& out) {
  ENGINE_CHECK(std::isfinite(number));
  if (number == 0) {
    out.push_back('0');  // Also -0.
    return;
  }
  // The shortest digits that give the same double back: [-]d[.ddd]e[+-]dd.
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), std::abs(number),
                                 std::chars_format::scientific)
                       .ptr;
  const std::string_view scientific(text.data(), static_cast<std::size_t>(end - text.data()));
  const std::size_t mark = scientific.find('e');
  std::string digits(1, scientific.front());
  if (mark > 1) {
    digits += scientific.substr(2, mark - 2);
  }
  int exponent = 0;  // `from_chars` knows no plus sign.
  const std::size_t plus = scientific[mark + 1] == '+' ? 1 : 0;
  std::from_chars(text.data() + mark + 1 + plus, end, exponent);
  if (number < 0) {
    out.push_back('-');
  }
  constexpr double kTwoTo64 = 18446744073709551616.0;
  constexpr double kTwoTo63 = 9223372036854775808.0;
  // Negative integers have one bit less.
  const bool fits_integer = number < 0 ? number >= -kTwoTo63 : number < kTwoTo64;
  if (exponent >= -6 && fits_integer) {
    AppendFixed(digits, exponent + 1, out);
  } else {
    AppendWithExponent(digits, exponent, out);
  }
}

void AppendCanonicalJson(const JsonValue& value, std::string& out) {
  switch (value.kind()) {
    case boost::json::kind::null:
      out += "null";
      break;
    case boost::json::kind::bool_:
      out += value.get_bool() ? "true" : "false";
      break;
    case boost::json::kind::int64:
      AppendInteger(value.get_int64(), out);
      break;
    case boost::json::kind::uint64:
      AppendInteger(value.get_uint64(), out);
      break;
    case boost::json::kind::double_:
      AppendJsonNumber(value.get_double(), out);
      break;
    case boost::json::kind::string:
      AppendJsonText({value.get_string().data(), value.get_string().size()}, out);
      break;
    case boost::json::kind::array:
      AppendArray(value.get_array(), out);
      break;
    case boost::json::kind::object:
      AppendObject(value.get_object(), out);
      break;
  }
}

std::string CanonicalJson(const JsonValue& value) {
  std::string out;
  AppendCanonicalJson(value, out);
  return out;
}

bool JsonEquals(const JsonValue& a, const JsonValue& b) {
  return CanonicalJson(a) == CanonicalJson(b);
}

}  // namespace api
