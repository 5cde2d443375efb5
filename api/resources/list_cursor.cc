#include "api/resources/list_cursor.h"

#include <cstdint>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/checksum.h"

namespace api {
namespace {

// Layout, little-endian: checksum of the rest u32, version u8, then for each term of the order
// column u8 (| 0x80: descending), absent u8, number u64, text; then the id as a text. A text is
// its length u32 and its bytes.
constexpr std::uint8_t kVersion = 1;
constexpr std::uint8_t kDescending = 0x80;
constexpr std::size_t kChecksumBytes = 4;

std::uint32_t ChecksumOf(std::string_view bytes) {
  return static_cast<std::uint32_t>(engine::Checksum64(bytes));
}

std::uint8_t ByteOf(const projections::OrderTerm& term) {
  const auto column = static_cast<std::uint8_t>(term.column);
  return term.descending ? column | kDescending : column;
}

void AppendText(std::string_view text, std::string& out) {
  engine::AppendU32(static_cast<std::uint32_t>(text.size()), out);
  out += text;
}

// Reads from the front; what is cut off makes it fail for good.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  std::uint8_t U8() {
    const std::string_view bytes = Take(1);
    return bytes.empty() ? 0 : static_cast<std::uint8_t>(bytes.front());
  }
  std::uint32_t U32() {
    const std::string_view bytes = Take(4);
    return bytes.empty() ? 0 : engine::ReadU32(bytes);
  }
  std::uint64_t U64() {
    const std::string_view bytes = Take(8);
    return bytes.empty() ? 0 : engine::ReadU64(bytes);
  }
  std::string Text() { return std::string(Take(U32())); }
  bool IsAtEnd() const { return !failed_ && rest_.empty(); }

 private:
  std::string_view Take(std::size_t count) {
    if (failed_ || rest_.size() < count) {
      failed_ = true;
      return {};
    }
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::string_view rest_;
  bool failed_ = false;
};

}  // namespace

std::string EncodeListCursor(const projections::Order& order, const projections::ListPlace& place) {
  std::string body;
  engine::AppendU8(kVersion, body);
  for (std::size_t i = 0; i < order.size(); ++i) {
    engine::AppendU8(ByteOf(order[i]), body);
    engine::AppendU8(place.values[i].absent ? 1 : 0, body);
    engine::AppendU64(static_cast<std::uint64_t>(place.values[i].number), body);
    AppendText(place.values[i].text, body);
  }
  AppendText(place.id, body);
  std::string bytes;
  engine::AppendU32(ChecksumOf(body), bytes);
  return engine::ToHex(bytes + body);
}

std::optional<projections::ListPlace> DecodeListCursor(std::string_view token,
                                                       const projections::Order& order) {
  const std::optional<std::string> bytes = engine::FromHex(token);
  if (!bytes || bytes->size() < kChecksumBytes) {
    return std::nullopt;
  }
  const std::string_view body = std::string_view(*bytes).substr(kChecksumBytes);
  Reader reader(body);
  if (engine::ReadU32(*bytes) != ChecksumOf(body) || reader.U8() != kVersion) {
    return std::nullopt;
  }
  projections::ListPlace place;
  for (const projections::OrderTerm& term : order) {
    if (reader.U8() != ByteOf(term)) {
      return std::nullopt;
    }
    projections::PlaceValue value{.absent = reader.U8() != 0};
    value.number = static_cast<std::int64_t>(reader.U64());
    value.text = reader.Text();
    place.values.push_back(std::move(value));
  }
  place.id = reader.Text();
  return reader.IsAtEnd() ? std::optional(std::move(place)) : std::nullopt;
}

}  // namespace api
