// What the files of a data directory are called. The list: engine/file/directory.h.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "engine/journal.h"

namespace engine::file {

inline constexpr std::string_view kSegmentPrefix = "journal-";
inline constexpr std::string_view kStatePrefix = "state-";
// Of a file that is not whole yet.
inline constexpr std::string_view kAsideSuffix = ".tmp";
inline constexpr char kLockName[] = "lock";

// A segment as one file has it: compaction writes a segment anew under the next generation.
struct SegmentId {
  Tx first = Tx::kBeforeFirst;  // Its first tx.
  std::uint32_t generation = 0;
  friend auto operator<=>(const SegmentId&, const SegmentId&) = default;
};

std::string SegmentName(Tx first_tx, std::uint32_t generation = 0);
inline std::string SegmentName(SegmentId segment) {
  return SegmentName(segment.first, segment.generation);
}
std::string StateName(std::uint64_t generation);

// Empty when `name` is not exactly what SegmentName gives.
std::optional<SegmentId> ParseSegmentName(const std::string& name);
// Empty when `name` is not exactly `prefix` and 16 hexadecimal digits in lower case.
std::optional<std::uint64_t> NumberOf(std::string_view prefix, const std::string& name);

// Whether a file of that name may be of ours, whole or not. Others are left alone.
bool IsOurs(const std::string& name);

}  // namespace engine::file
