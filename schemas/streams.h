// The catalogue of streams. Numbers are part of every row's checksum: never change or reuse one.
//
// `retention` is the default; `--retention` changes it (docs/operations.md). The audit and the
// streams without keys are never compacted.
//
// A store inserts the names that it lacks at start; a name with another number is refused.

#pragma once

#include "engine/journal.h"

namespace schemas {

inline constexpr engine::StreamId kAuditStream{1};
inline constexpr engine::StreamId kKillSwitchStream{2};
inline constexpr engine::StreamId kResourcesStream{3};
inline constexpr engine::StreamId kControllerStateStream{4};
inline constexpr engine::StreamId kDocumentsStream{5};
inline constexpr engine::StreamId kStatusesStream{6};

// Every stream, ascending by number.
inline engine::Catalogue Streams() {
  return {
      {.id = kAuditStream, .name = "audit", .keyed = false, .chained = true},
      {.id = kKillSwitchStream, .name = "killswitch", .keyed = false, .chained = false},
      {.id = kResourcesStream,
       .name = "resources",
       .keyed = true,
       .chained = false,
       .retention = std::chrono::hours(24) * 30},
      {.id = kControllerStateStream,
       .name = "controller-state",
       .keyed = true,
       .fenced = true,
       .retention = std::chrono::hours(24) * 30},
      {.id = kDocumentsStream,
       .name = "documents",
       .keyed = true,
       .fenced = true,
       .retention = std::chrono::hours(24) * 30},
      // Adapters report again and again: what they replaced is not worth keeping for long.
      {.id = kStatusesStream,
       .name = "statuses",
       .keyed = true,
       .chained = false,
       .retention = std::chrono::hours(24)},
  };
}

}  // namespace schemas
