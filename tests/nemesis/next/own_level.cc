// The next release can read record types that this one cannot.

#include "schemas/own_level.h"

#include "schemas/feature_level.h"

namespace schemas {

std::uint32_t OwnFeatureLevel() {
  return kFeatureLevel + 1;
}

}  // namespace schemas
