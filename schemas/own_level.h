// The feature level of this program (feature_level.h). A function in an object of its own, so that
// the tests can build the next release in front of it.

#pragma once

#include <cstdint>

namespace schemas {

std::uint32_t OwnFeatureLevel();

}  // namespace schemas
