// Params: the parameters of one statement, in Postgres' binary format.
//
// One thread; never blocks. bigint columns hold our unsigned 64-bit numbers bit by bit.

#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/clock.h"

namespace engine::postgres {

// Microseconds between 1970-01-01 and 2000-01-01, where Postgres' timestamps start.
inline constexpr std::int64_t kPostgresEpochMicros = 946'684'800'000'000;

// Builds a one-dimensional array in the binary format.
class ArrayParam {
 public:
  // `size` elements will follow.
  ArrayParam(std::uint32_t element_oid, std::size_t size);

  void AddInt16(std::int16_t value);
  void AddInt32(std::int32_t value);
  void AddInt64(std::int64_t value);
  void AddTimestamp(Timestamp value) { AddInt64(value.micros - kPostgresEpochMicros); }
  void AddBytes(std::string_view value);
  void AddNull();

  std::string Take() && { return std::move(bytes_); }

 private:
  std::string bytes_;
};

inline constexpr std::uint32_t kInt2Oid = 21;
inline constexpr std::uint32_t kInt4Oid = 23;
inline constexpr std::uint32_t kInt8Oid = 20;
inline constexpr std::uint32_t kByteaOid = 17;
inline constexpr std::uint32_t kTimestamptzOid = 1184;

class Params {
 public:
  Params& Int32(std::int32_t value);
  Params& Int64(std::int64_t value);
  Params& Time(Timestamp value) { return Int64(value.micros - kPostgresEpochMicros); }
  Params& EndOfTime() { return Int64(std::numeric_limits<std::int64_t>::max()); }  // `infinity`
  Params& Text(std::string value);
  Params& Array(ArrayParam array) { return Text(std::move(array).Take()); }

  int size() const { return static_cast<int>(values_.size()); }
  // Parallel arrays as libpq takes them; valid until the next change.
  std::vector<const char*> Pointers() const;
  std::vector<int> Lengths() const;
  std::vector<int> Formats() const { return std::vector<int>(values_.size(), 1); }

 private:
  std::vector<std::string> values_;
};

}  // namespace engine::postgres
