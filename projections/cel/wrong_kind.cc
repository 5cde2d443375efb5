#include "projections/cel/wrong_kind.h"

#include <absl/strings/str_format.h>

namespace projections::cel {

absl::Status WrongKind(std::string_view what, const Value& value) {
  return absl::InvalidArgumentError(
      absl::StrFormat("%s does not take %s", what, value.kind_name()));
}

absl::Status WrongKinds(std::string_view what, const Value& a, const Value& b) {
  return absl::InvalidArgumentError(
      absl::StrFormat("%s does not take %s and %s", what, a.kind_name(), b.kind_name()));
}

}  // namespace projections::cel
