#include "engine/postgres/result.h"

#include <cstring>

#include "engine/postgres/params.h"

namespace engine::postgres {

std::int16_t WireInt16(const char* bytes) {
  std::uint16_t value = 0;
  std::memcpy(&value, bytes, sizeof(value));
  return static_cast<std::int16_t>(__builtin_bswap16(value));
}

std::int32_t WireInt32(const char* bytes) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes, sizeof(value));
  return static_cast<std::int32_t>(__builtin_bswap32(value));
}

std::int64_t WireInt64(const char* bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes, sizeof(value));
  return static_cast<std::int64_t>(__builtin_bswap64(value));
}

Timestamp WireTimestamp(const char* bytes) {
  return {WireInt64(bytes) + kPostgresEpochMicros};
}

std::string_view Result::message() const {
  const std::string_view primary = Field(PG_DIAG_MESSAGE_PRIMARY);
  return primary.empty() ? std::string_view(PQresultErrorMessage(result_.get())) : primary;
}

}  // namespace engine::postgres
