#include "schemas/own_level.h"

#include "schemas/feature_level.h"

namespace schemas {

std::uint32_t OwnFeatureLevel() {
  return kFeatureLevel;
}

}  // namespace schemas
