#include "projections/cel/utf8.h"

#include <array>

namespace projections::cel {

void AppendUtf8(std::uint32_t code, std::string& out) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  static constexpr std::array<std::uint32_t, 4> kLead = {0, 0xC0, 0xE0, 0xF0};
  put(kLead[static_cast<std::size_t>(more)] | (code >> (6 * more)));
  for (int i = more - 1; i >= 0; --i) {
    put(0x80 | ((code >> (6 * i)) & 0x3F));
  }
}

}  // namespace projections::cel
