#include "projections/resources/names.h"

#include <algorithm>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"

namespace projections {
namespace {

constexpr std::size_t kMaxLabelPart = 63;
constexpr std::size_t kMaxLabelPrefix = 253;
constexpr std::size_t kMaxLabelKey = 255;

bool IsLowerOrDigit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}
bool IsAlphanumeric(char c) {
  return IsLowerOrDigit(c) || (c >= 'A' && c <= 'Z');
}

// One segment of a DNS name: lower-case letters, digits and, inside, `-`.
bool IsDnsLabel(std::string_view text) {
  return !text.empty() && IsLowerOrDigit(text.front()) && IsLowerOrDigit(text.back()) &&
         std::ranges::all_of(text, [](char c) { return IsLowerOrDigit(c) || c == '-'; });
}

bool IsDnsSubdomain(std::string_view text) {
  if (text.size() > kMaxLabelPrefix) {
    return false;
  }
  while (true) {
    const std::string_view segment = text.substr(0, text.find('.'));
    if (segment.size() > kMaxLabelPart || !IsDnsLabel(segment)) {
      return false;
    }
    if (segment.size() == text.size()) {
      return true;
    }
    text.remove_prefix(segment.size() + 1);
  }
}

// The name part of a key, and a value that is not empty.
bool IsLabelPart(std::string_view text) {
  return !text.empty() && text.size() <= kMaxLabelPart && IsAlphanumeric(text.front()) &&
         IsAlphanumeric(text.back()) && std::ranges::all_of(text, [](char c) {
           return IsAlphanumeric(c) || c == '.' || c == '_' || c == '-';
         });
}

bool IsLabelKey(std::string_view key) {
  if (key.size() > kMaxLabelKey) {
    return false;
  }
  const std::size_t slash = key.find('/');
  if (slash == std::string_view::npos) {
    return IsLabelPart(key);
  }
  return IsDnsSubdomain(key.substr(0, slash)) && IsLabelPart(key.substr(slash + 1));
}

}  // namespace

std::vector<FieldError> CheckName(std::string_view name, const EntityDescriptor& descriptor) {
  const auto wrong = [](std::string message, std::string constraint) {
    return std::vector<FieldError>{{"name", std::move(message), std::move(constraint)}};
  };
  const std::size_t max = descriptor.name_max_len > 0
                              ? static_cast<std::size_t>(descriptor.name_max_len)
                              : Registry::kDefaultMaxName;
  const auto min = static_cast<std::size_t>(descriptor.name_min_len);
  if (name.empty()) {
    return wrong("name is required", "required");
  }
  if (name.size() < min) {
    return wrong(absl::StrFormat("name must have at least %d characters", min), "min_length");
  }
  if (name.size() > max) {
    return wrong(absl::StrFormat("name must have at most %d characters", max), "max_length");
  }
  if (!IsDnsLabel(name)) {
    return wrong(
        "name must start and end with a lower-case letter or a digit and have only those and '-'",
        "pattern");
  }
  return {};
}

std::vector<FieldError> CheckLabels(const Labels& labels) {
  std::vector<FieldError> errors;
  for (const auto& [key, value] : labels) {
    if (!GUARD("labels.errors-told", errors.size() < kLabelErrorsTold)) {
      break;
    }
    if (!IsLabelKey(key)) {
      errors.push_back(
          {"labels", absl::StrFormat("label key \"%s\" is not valid", key), "pattern"});
    }
    if (!value.empty() && !IsLabelPart(value)) {
      errors.push_back({absl::StrFormat("labels[%s]", key),
                        absl::StrFormat("label value \"%s\" is not valid", value), "pattern"});
    }
  }
  return errors;
}

}  // namespace projections
