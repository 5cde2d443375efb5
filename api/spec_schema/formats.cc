#include "api/spec_schema/formats.h"

#include <array>
#include <cstdint>
#include <limits>
#include <optional>

#include "api/spec_schema/values.h"

namespace api {
namespace {

struct Named {
  std::string_view name;
  Format format = Format::kAny;
};
constexpr auto kFormats = std::to_array<Named>({{"date", Format::kDate},
                                                {"date-time", Format::kDateTime},
                                                {"byte", Format::kByte},
                                                {"int32", Format::kInt32},
                                                {"int64", Format::kInt64}});

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// Takes exactly `digits` digits off the front.
std::optional<int> TakeNumber(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) {
    return std::nullopt;
  }
  int number = 0;
  for (const char c : text.substr(0, digits)) {
    if (!IsDigit(c)) {
      return std::nullopt;
    }
    number = number * 10 + (c - '0');
  }
  text.remove_prefix(digits);
  return number;
}

bool TakeOne(std::string_view& text, std::string_view of) {
  if (text.empty() || of.find(text.front()) == std::string_view::npos) {
    return false;
  }
  text.remove_prefix(1);
  return true;
}

int DaysIn(int year, int month) {
  constexpr std::array<int, 12> kDays = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return kDays[static_cast<std::size_t>(month - 1)] + (month == 2 && is_leap ? 1 : 0);
}

bool TakeDate(std::string_view& text) {
  const auto year = TakeNumber(text, 4);
  if (!year || !TakeOne(text, "-")) {
    return false;
  }
  const auto month = TakeNumber(text, 2);
  if (!month || !TakeOne(text, "-")) {
    return false;
  }
  const auto day = TakeNumber(text, 2);
  return day && *month >= 1 && *month <= 12 && *day >= 1 && *day <= DaysIn(*year, *month);
}

// `HH:MM`, in minutes.
std::optional<int> TakeMinutes(std::string_view& text) {
  const auto hours = TakeNumber(text, 2);
  if (!hours || *hours > 23 || !TakeOne(text, ":")) {
    return std::nullopt;
  }
  const auto minutes = TakeNumber(text, 2);
  return minutes && *minutes < 60 ? std::optional(*hours * 60 + *minutes) : std::nullopt;
}

bool TakeFraction(std::string_view& text) {
  if (!TakeOne(text, ".")) {
    return true;
  }
  const std::size_t before = text.size();
  while (!text.empty() && IsDigit(text.front())) {
    text.remove_prefix(1);
  }
  return text.size() < before;
}

// Minutes east of Greenwich.
std::optional<int> TakeOffset(std::string_view& text) {
  if (TakeOne(text, "Zz")) {
    return 0;
  }
  const bool is_west = text.starts_with('-');
  if (!TakeOne(text, "+-")) {
    return std::nullopt;
  }
  const auto minutes = TakeMinutes(text);
  return minutes ? std::optional(is_west ? -*minutes : *minutes) : std::nullopt;
}

bool IsDateTime(std::string_view text) {
  if (!TakeDate(text) || !TakeOne(text, "Tt")) {
    return false;
  }
  const auto minutes = TakeMinutes(text);
  if (!minutes || !TakeOne(text, ":")) {
    return false;
  }
  const auto seconds = TakeNumber(text, 2);
  if (!seconds || *seconds > 60 || !TakeFraction(text)) {
    return false;
  }
  const auto offset = TakeOffset(text);
  if (!offset || !text.empty()) {
    return false;
  }
  // A leap second is the last of a day in Greenwich.
  constexpr int kDay = 24 * 60;
  return *seconds < 60 || (*minutes - *offset + kDay) % kDay == kDay - 1;
}

bool IsDate(std::string_view text) {
  return TakeDate(text) && text.empty();
}

bool IsByte(std::string_view text) {
  while (text.ends_with('=')) {
    text.remove_suffix(1);
  }
  for (const char c : text) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (!is_letter && !IsDigit(c) && std::string_view("+/-_").find(c) == std::string_view::npos) {
      return false;
    }
  }
  return true;
}

template <class Whole>
bool Fits(const JsonValue& number) {
  return IsWhole(number) &&
         CompareNumbers(number, JsonValue(std::int64_t{std::numeric_limits<Whole>::min()})) >= 0 &&
         CompareNumbers(number, JsonValue(std::int64_t{std::numeric_limits<Whole>::max()})) <= 0;
}

}  // namespace

Format FormatOf(std::string_view name) {
  for (const Named& named : kFormats) {
    if (named.name == name) {
      return named.format;
    }
  }
  return Format::kAny;
}

std::string_view FormatName(Format format) {
  for (const Named& named : kFormats) {
    if (named.format == format) {
      return named.name;
    }
  }
  return "";
}

bool HasFormat(const JsonValue& value, Format format) {
  if (value.is_number()) {
    return format == Format::kInt32   ? Fits<std::int32_t>(value)
           : format == Format::kInt64 ? Fits<std::int64_t>(value)
                                      : true;
  }
  const auto* string = value.if_string();
  if (string == nullptr) {
    return true;
  }
  const std::string_view text(string->data(), string->size());
  switch (format) {
    case Format::kDate:
      return IsDate(text);
    case Format::kDateTime:
      return IsDateTime(text);
    case Format::kByte:
      return IsByte(text);
    case Format::kAny:
    case Format::kInt32:
    case Format::kInt64:
      break;
  }
  return true;
}

}  // namespace api
