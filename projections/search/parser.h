// ParseSearch: the search language of lists, a subset of TSL (docs/resources.md, Search).
//
//   labels.team = 'x' and (generation > 3 or not name like 'dev-%')
//
// Pure functions; thread-safe, never block.

#pragma once

#include <cstddef>
#include <string_view>

#include <absl/status/statusor.h>

#include "projections/search/tree.h"

namespace projections::search {

inline constexpr std::size_t kMaxSearchBytes = 4096;
// Parentheses and `not` in one another.
inline constexpr int kMaxSearchDepth = 64;

// Either the tree, all of whose tests fit their fields, or kInvalidArgument with a sentence that
// has the place of what is wrong. REQUIRES: `text` is not blank; else it is refused like any other.
absl::StatusOr<Node> ParseSearch(std::string_view text);

}  // namespace projections::search
