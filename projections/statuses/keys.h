// The keys of the stream `statuses`: `<resource id>` and `<resource id>/<adapter>`.
//
// Pure functions; thread-safe, never block.

#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace projections {

// An adapter's name may be no longer; with the id of its resource it makes a key.
inline constexpr std::size_t kMaxAdapterName = 255;

// The texts of a condition that an adapter reports, in bytes: as long as Kubernetes lets them be.
inline constexpr std::size_t kMaxReportedReason = 1024;
inline constexpr std::size_t kMaxReportedMessage = 32768;

inline std::string ReportKey(std::string_view resource_id, std::string_view adapter) {
  std::string key(resource_id);
  key += '/';
  key += adapter;
  return key;
}

}  // namespace projections
