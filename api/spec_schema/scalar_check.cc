#include "api/spec_schema/scalar_check.h"

#include <algorithm>
#include <array>

#include <absl/strings/str_format.h>

#include "api/json/canonical.h"
#include "api/spec_schema/values.h"

namespace api {
namespace {

std::string_view View(const JsonValue& text) {
  return {text.get_string().data(), text.get_string().size()};
}

unsigned TypesOf(const JsonValue& value) {
  if (value.is_number()) {
    return IsWhole(value) ? kNumberType | kIntegerType : kNumberType;
  }
  return value.is_null()     ? kNullType
         : value.is_bool()   ? kBooleanType
         : value.is_object() ? kObjectType
         : value.is_array()  ? kArrayType
                             : kStringType;
}

// `must be an object or null`
std::string DescribeTypes(unsigned types) {
  struct Described {
    unsigned bit = 0;
    std::string_view name;
  };
  static constexpr auto kNames = std::to_array<Described>({{kObjectType, "an object"},
                                                           {kArrayType, "an array"},
                                                           {kStringType, "a string"},
                                                           {kNumberType, "a number"},
                                                           {kIntegerType, "an integer"},
                                                           {kBooleanType, "a boolean"},
                                                           {kNullType, "null"}});
  if ((types & kNumberType) != 0) {
    types &= ~unsigned{kIntegerType};
  }
  std::string text = "must be ";
  bool first = true;
  for (const Described& described : kNames) {
    if ((types & described.bit) != 0) {
      text += absl::StrFormat("%s%s", first ? "" : " or ", described.name);
      first = false;
    }
  }
  return text;
}

std::string DescribeAllowed(const std::vector<JsonValue>& allowed) {
  constexpr std::size_t kShown = 10;
  std::string text = "must be one of ";
  for (std::size_t i = 0; i < std::min(allowed.size(), kShown); ++i) {
    text += absl::StrFormat("%s%s", i == 0 ? "" : ", ", CanonicalJson(allowed[i]));
  }
  return text + (allowed.size() > kShown ? ", ..." : "");
}

std::size_t CountCharacters(std::string_view utf8) {
  return static_cast<std::size_t>(std::ranges::count_if(
      utf8, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::optional<Broken> CheckNumber(const ScalarRules& rules, const JsonValue& number) {
  for (const Bound& bound : rules.minimums) {
    const auto order = CompareNumbers(number, bound.limit);
    if (order < 0 || (bound.exclusive && order == 0)) {
      return Broken{absl::StrFormat("must be %s %s", bound.exclusive ? "more than" : "at least",
                                    CanonicalJson(bound.limit)),
                    "min"};
    }
  }
  for (const Bound& bound : rules.maximums) {
    const auto order = CompareNumbers(number, bound.limit);
    if (order > 0 || (bound.exclusive && order == 0)) {
      return Broken{absl::StrFormat("must be %s %s", bound.exclusive ? "less than" : "at most",
                                    CanonicalJson(bound.limit)),
                    "max"};
    }
  }
  if (rules.multiple_of && !IsMultipleOf(number, *rules.multiple_of)) {
    return Broken{absl::StrFormat("must be a multiple of %s", CanonicalJson(*rules.multiple_of)),
                  ""};
  }
  return std::nullopt;
}

std::optional<Broken> CheckText(const ScalarRules& rules, std::string_view text) {
  if (rules.min_length || rules.max_length) {
    const std::size_t length = CountCharacters(text);
    if (rules.min_length && length < *rules.min_length) {
      return Broken{absl::StrFormat("must have at least %d characters", *rules.min_length),
                    "min_length"};
    }
    if (rules.max_length && length > *rules.max_length) {
      return Broken{absl::StrFormat("must have at most %d characters", *rules.max_length),
                    "max_length"};
    }
  }
  if (rules.pattern && !rules.pattern->IsFoundIn(text)) {
    return Broken{absl::StrFormat("must match the pattern %s", rules.pattern->text()), "pattern"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Broken> CheckScalar(const SchemaNode& node, const JsonValue& value) {
  if (node.never) {
    return Broken{"is not allowed", ""};
  }
  if (node.types != kAnyType && (TypesOf(value) & node.types) == 0) {
    return Broken{DescribeTypes(node.types), "format"};
  }
  if (node.allowed && std::ranges::none_of(*node.allowed, [&value](const JsonValue& one) {
        return EqualValues(one, value);
      })) {
    return Broken{DescribeAllowed(*node.allowed), "enum"};
  }
  if (node.constant && !EqualValues(*node.constant, value)) {
    return Broken{absl::StrFormat("must be %s", CanonicalJson(*node.constant)), "enum"};
  }
  if (value.is_number()) {
    if (auto broken = CheckNumber(node.scalar, value)) {
      return broken;
    }
  } else if (value.is_string()) {
    if (auto broken = CheckText(node.scalar, View(value))) {
      return broken;
    }
  }
  if (node.scalar.format != Format::kAny && !HasFormat(value, node.scalar.format)) {
    return Broken{absl::StrFormat("must have the format %s", FormatName(node.scalar.format)),
                  "format"};
  }
  return std::nullopt;
}

std::optional<Broken> CheckArrayCounts(const ArrayRules& rules, const JsonArray& array) {
  if (rules.min_items && array.size() < *rules.min_items) {
    return Broken{absl::StrFormat("must have at least %d elements", *rules.min_items), "min"};
  }
  if (rules.max_items && array.size() > *rules.max_items) {
    return Broken{absl::StrFormat("must have at most %d elements", *rules.max_items), "max"};
  }
  if (rules.unique && !AllDiffer(array)) {
    return Broken{"must not have an element twice", "unique"};
  }
  return std::nullopt;
}

}  // namespace api
