// Redacted: a value without what must not get into a condition.
//
// Whatever stands under a member whose name sounds like a secret (`password`, `clientSecret`,
// `KUBECONFIG`, ...; the case does not matter) is `***REDACTED***`, and so is everything nested
// deeper than 20. Thread-safe; never blocks.

#pragma once

#include <string_view>

#include "projections/cel/value.h"

namespace projections {

inline constexpr std::string_view kRedacted = "***REDACTED***";
inline constexpr int kMaxRedactionDepth = 20;

cel::Value Redacted(const cel::Value& value);

bool SoundsSecret(std::string_view member);

}  // namespace projections
