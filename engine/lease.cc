#include "engine/lease.h"

#include <algorithm>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"

namespace engine {
namespace {

constexpr std::size_t kMaxNameBytes = 128;
constexpr std::size_t kMaxHolderBytes = 64;
constexpr Duration kMinTimeToLive = std::chrono::milliseconds(1);
constexpr Duration kMaxTimeToLive = std::chrono::hours(24);
constexpr std::int64_t kTickMicros = 1'000'000;

bool IsNameCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '/' || c == '-';
}

}  // namespace

absl::Status CheckLease(const std::string& name, const std::string& holder) {
  if (name.empty() || name.size() > kMaxNameBytes || !std::ranges::all_of(name, IsNameCharacter)) {
    return absl::InvalidArgumentError(
        "a lease's name has 1 to 128 characters of a-z, 0-9, dot, slash and hyphen");
  }
  if (holder.empty() || holder.size() > kMaxHolderBytes) {
    return absl::InvalidArgumentError("a lease's holder has 1 to 64 bytes");
  }
  return absl::OkStatus();
}

absl::Status CheckTimeToLive(Duration ttl) {
  if (ttl < kMinTimeToLive || ttl > kMaxTimeToLive) {
    return absl::InvalidArgumentError("a lease lives for 1 ms to 1 day");
  }
  return absl::OkStatus();
}

std::uint64_t NextToken(std::uint64_t last, std::uint64_t epoch, Timestamp now) {
  constexpr std::int64_t kMaxTicks = (std::int64_t{1} << kTokenEpochBits) - 1;
  const std::int64_t ticks =
      std::clamp<std::int64_t>((now.micros - kTokenTimeOrigin) / kTickMicros, 1, kMaxTicks);
  const std::uint64_t least = (epoch << kTokenEpochBits) + static_cast<std::uint64_t>(ticks);
  return GUARD("lease.token-rises", last < least) ? least : last + 1;
}

}  // namespace engine
