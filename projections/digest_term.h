// DigestTerm: what one key adds to the state digest of a projection whose state is its newest
// records.
//
//   XXH3(key length u32, key, payload length u64, XXH3(payload) u64), little-endian
//
// A state digest is the sum of its terms modulo 2^64. Pure; thread-safe, never blocks.

#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/bytes.h"
#include "engine/base/checksum.h"

namespace projections {

inline std::uint64_t DigestTerm(std::string_view key, std::string_view payload) {
  std::string bytes;
  bytes.reserve(key.size() + 20);
  engine::AppendU32(static_cast<std::uint32_t>(key.size()), bytes);
  bytes.append(key);
  engine::AppendU64(payload.size(), bytes);
  engine::AppendU64(engine::Checksum64(payload), bytes);
  return engine::Checksum64(bytes);
}

}  // namespace projections
