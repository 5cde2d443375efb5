#include "engine/postgres/lives.h"

#include <algorithm>

#include "engine/base/guard.h"

namespace engine::postgres {

absl::Status Lives::Judge(const Origin& origin) {
  MutexLock lock(mutex_);
  if (present_ == origin) {
    return absl::OkStatus();
  }
  if (!GUARD("postgres.former-life", std::ranges::find(over_, origin) == over_.end())) {
    return absl::UnavailableError("a former life of the database answered");
  }
  if (present_.has_value()) {
    over_.push_back(*present_);
  }
  present_ = origin;
  return absl::OkStatus();
}

}  // namespace engine::postgres
