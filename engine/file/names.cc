#include "engine/file/names.h"

#include <absl/strings/str_format.h>

#include "engine/base/bytes.h"

namespace engine::file {

std::string SegmentName(Tx first_tx, std::uint32_t generation) {
  const std::string name = std::string(kSegmentPrefix) + ToHex(Raw(first_tx));
  return generation == 0 ? name : name + absl::StrFormat("-%08x", generation);
}

std::string StateName(std::uint64_t generation) {
  return std::string(kStatePrefix) + ToHex(generation);
}

std::optional<SegmentId> ParseSegmentName(const std::string& name) {
  const std::size_t first_end = kSegmentPrefix.size() + 16;
  const auto first = NumberOf(kSegmentPrefix, name.substr(0, first_end));
  if (!first.has_value()) {
    return std::nullopt;
  }
  SegmentId segment{.first = Tx{*first}};
  if (name.size() == first_end + 9 && name[first_end] == '-') {
    const std::optional<std::string> bytes = FromHex(name.substr(first_end + 1));
    for (const char c : bytes.value_or("")) {
      segment.generation = segment.generation << 8 | static_cast<unsigned char>(c);
    }
  }
  return SegmentName(segment) == name ? std::optional(segment) : std::nullopt;
}

std::optional<std::uint64_t> NumberOf(std::string_view prefix, const std::string& name) {
  const std::optional<std::string> bytes = FromHex(name.substr(prefix.size()));
  if (!bytes.has_value() || bytes->size() != 8) {
    return std::nullopt;
  }
  std::uint64_t number = 0;
  for (const char c : *bytes) {
    number = number << 8 | static_cast<unsigned char>(c);
  }
  return std::string(prefix) + ToHex(number) == name ? std::optional(number) : std::nullopt;
}

bool IsOurs(const std::string& name) {
  return name == kLockName || name == "head" || name == "streams" || name == "floors" ||
         name == "sealed" || name.starts_with(kSegmentPrefix) || name.starts_with(kStatePrefix);
}

}  // namespace engine::file
