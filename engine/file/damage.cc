#include "engine/file/damage.h"

#include <absl/strings/str_format.h>

namespace engine::file {

absl::Status DamageAt(const std::string& file, std::uint64_t offset, std::string_view why) {
  return absl::DataLossError(absl::StrFormat("%s at byte %d: %s", file, offset, why));
}

absl::Status ErrorAt(const std::string& file, std::uint64_t offset, const absl::Status& status) {
  return absl::Status(status.code(),
                      absl::StrFormat("%s at byte %d: %s", file, offset, MessageOf(status)));
}

std::string MessageOf(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

}  // namespace engine::file
