#include "engine/postgres/nested_limits.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace engine::postgres {
namespace {

// A fifth of what there is, and no more than the way to the server and back needs.
std::int64_t Less(std::int64_t ms) {
  return std::max<std::int64_t>(1, ms - std::clamp<std::int64_t>(ms / 5, 1, 100));
}

}  // namespace

Limits LimitsFor(Deadline deadline) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  const std::int64_t left =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline.Remaining()).count();
  const std::int64_t statement = Less(std::min(left, kMost));
  return {statement, Less(statement)};
}

}  // namespace engine::postgres
