#include "projections/saved_text.h"

#include <cstdint>

#include "engine/base/bytes.h"

namespace projections {

void AppendText(std::string_view text, std::string& bytes) {
  engine::AppendU32(static_cast<std::uint32_t>(text.size()), bytes);
  bytes += text;
}

std::optional<std::string> TakeText(std::string_view& bytes) {
  if (bytes.size() < 4 || bytes.size() - 4 < engine::ReadU32(bytes)) {
    return std::nullopt;
  }
  std::string text(bytes.substr(4, engine::ReadU32(bytes)));
  bytes.remove_prefix(4 + text.size());
  return text;
}

}  // namespace projections
