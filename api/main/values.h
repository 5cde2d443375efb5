// Reading one setting as a number, a duration or a choice.

#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

#include <absl/status/status.h>

#include "api/main/settings.h"
#include "engine/base/clock.h"

namespace api {

// kInvalidArgument when a flag said it, else kFailedPrecondition.
absl::Status BadValue(const Settings::Value& value, std::string_view why);

// Each leaves `out` as it is when nobody set the setting, and fails as BadValue does.
absl::Status ReadInt(const Settings& settings, std::string_view name, std::int64_t min,
                     std::int64_t max, std::int64_t& out);
absl::Status ReadDuration(const Settings& settings, std::string_view name, engine::Duration& out);
absl::Status ReadBool(const Settings& settings, std::string_view name, bool& out);
absl::Status ReadText(const Settings& settings, std::string_view name, std::string& out);
// The text is one of `choices`; `out` is its index.
absl::Status ReadChoice(const Settings& settings, std::string_view name,
                        std::initializer_list<std::string_view> choices, std::size_t& out);

}  // namespace api
