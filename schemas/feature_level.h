// What record types this build can read, as one number that grows with each set of new ones.
//
// Each replica tells its level in its heartbeat (engine/heartbeat.h). Whoever writes a record type
// that was added after level 1 asks first whether every replica that is alive can read it:
//
//   if (store.feature_level() >= schemas::kSomethingLevel) { ... }
//
// Levels: 1, every type of schemas/*.fbs so far.

#pragma once

#include <cstdint>

namespace schemas {

inline constexpr std::uint32_t kFeatureLevel = 1;

}  // namespace schemas
