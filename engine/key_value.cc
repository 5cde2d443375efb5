#include "engine/key_value.h"

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/status_macros.h"

namespace engine {
namespace {

constexpr Duration kMinTimeToLive = std::chrono::milliseconds(1);
constexpr Duration kMaxWindow = std::chrono::hours(24);

}  // namespace

absl::Status CheckKey(const std::string& key) {
  if (!GUARD("key-value.key-limit", !key.empty() && key.size() <= kMaxKeyValueKeyBytes)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("a key has 1 to %d bytes, not %d", kMaxKeyValueKeyBytes, key.size()));
  }
  return absl::OkStatus();
}

absl::Status CheckRow(const std::string& key, const std::string& value, TimeToLive ttl) {
  RETURN_IF_ERROR(CheckKey(key));
  if (value.size() > kMaxKeyValueValueBytes) {
    return absl::InvalidArgumentError(absl::StrFormat("a value has at most %d bytes, not %d",
                                                      kMaxKeyValueValueBytes, value.size()));
  }
  if (ttl.has_value() && (*ttl < kMinTimeToLive || *ttl > kMaxKeyValueTimeToLive)) {
    return absl::InvalidArgumentError("a row lives for 1 ms to 10 years");
  }
  return absl::OkStatus();
}

absl::Status CheckCount(const std::string& key, Duration window, int limit) {
  RETURN_IF_ERROR(CheckKey(key));
  if (limit < 1 || limit > kMaxCountLimit) {
    return absl::InvalidArgumentError(
        absl::StrFormat("1 to %d events can be counted, not %d", kMaxCountLimit, limit));
  }
  if (window < kMinTimeToLive || window > kMaxWindow) {
    return absl::InvalidArgumentError("a window has 1 ms to 1 day");
  }
  return absl::OkStatus();
}

}  // namespace engine
