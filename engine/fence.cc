#include "engine/fence.h"

#include <absl/strings/str_format.h>

namespace engine {
namespace {

constexpr char kMark[] = "halo/fenced";

}  // namespace

absl::Status FencedError(const Fence& fence, std::string_view why) {
  absl::Status status = absl::FailedPreconditionError(
      absl::StrFormat("lease %s, token %d: %s", fence.lease, fence.token, why));
  status.SetPayload(kMark, absl::Cord());
  return status;
}

bool IsFenced(const absl::Status& status) {
  return status.GetPayload(kMark).has_value();
}

}  // namespace engine
