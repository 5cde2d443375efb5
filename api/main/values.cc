#include "api/main/values.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include <absl/strings/str_format.h>

#include "api/main/serve_config.h"

namespace api {
namespace {

struct Unit {
  std::string_view name;
  double nanoseconds;
};
// Longer names first: `ms` before `m`.
constexpr Unit kUnits[] = {{"ns", 1},     {"us", 1e3}, {"ms", 1e6},
                           {"h", 3.6e12}, {"m", 6e10}, {"s", 1e9}};

}  // namespace

absl::Status BadValue(const Settings::Value& value, std::string_view why) {
  const std::string message = absl::StrFormat("%s: %s, not '%s'", value.source, why, value.text);
  return value.from_flag ? absl::InvalidArgumentError(message)
                         : absl::FailedPreconditionError(message);
}

absl::Status ReadInt(const Settings& settings, std::string_view name, std::int64_t min,
                     std::int64_t max, std::int64_t& out) {
  const auto value = settings.Find(name);
  if (!value) {
    return absl::OkStatus();
  }
  std::int64_t number = 0;
  const char* last = value->text.data() + value->text.size();
  const auto [end, error] = std::from_chars(value->text.data(), last, number);
  if (error != std::errc() || end != last || number < min || number > max) {
    return BadValue(*value, absl::StrFormat("must be %d to %d", min, max));
  }
  out = number;
  return absl::OkStatus();
}

absl::Status ReadDuration(const Settings& settings, std::string_view name, engine::Duration& out) {
  const auto value = settings.Find(name);
  if (!value) {
    return absl::OkStatus();
  }
  const auto duration = ParseDuration(value->text);
  if (!duration) {
    return BadValue(*value, "must be a duration such as 30s or 5m");
  }
  out = *duration;
  return absl::OkStatus();
}

absl::Status ReadBool(const Settings& settings, std::string_view name, bool& out) {
  const auto value = settings.Find(name);
  if (!value) {
    return absl::OkStatus();
  }
  if (value->text != "true" && value->text != "false" && value->text != "1" && value->text != "0") {
    return BadValue(*value, "must be true or false");
  }
  out = value->text == "true" || value->text == "1";
  return absl::OkStatus();
}

absl::Status ReadText(const Settings& settings, std::string_view name, std::string& out) {
  if (const auto value = settings.Find(name)) {
    out = value->text;
  }
  return absl::OkStatus();
}

absl::Status ReadChoice(const Settings& settings, std::string_view name,
                        std::initializer_list<std::string_view> choices, std::size_t& out) {
  const auto value = settings.Find(name);
  if (!value) {
    return absl::OkStatus();
  }
  const auto choice = std::ranges::find(choices, value->text);
  if (choice == choices.end()) {
    std::string list;
    for (const std::string_view one : choices) {
      list += (list.empty() ? "" : ", ") + std::string(one);
    }
    return BadValue(*value, "must be one of " + list);
  }
  out = static_cast<std::size_t>(choice - choices.begin());
  return absl::OkStatus();
}

std::optional<engine::Duration> ParseDuration(std::string_view text) {
  double total = 0;
  if (text.empty()) {
    return std::nullopt;
  }
  while (!text.empty()) {
    double number = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
    if (error != std::errc()) {
      return std::nullopt;
    }
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const auto unit = std::ranges::find_if(
        kUnits, [text](const Unit& candidate) { return text.starts_with(candidate.name); });
    if (unit == std::end(kUnits) || number < 0) {
      return std::nullopt;
    }
    text.remove_prefix(unit->name.size());
    total += number * unit->nanoseconds;
  }
  constexpr double kMax = 9e18;  // Nanoseconds that fit.
  if (total <= 0 || total > kMax) {
    return std::nullopt;
  }
  return engine::Duration(static_cast<std::int64_t>(total));
}

}  // namespace api
