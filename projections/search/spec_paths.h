// SpecPaths: numbers for the paths of the members that specs have, so that an outline
// (projections/search/spec_outline.h) says in two bytes where in a spec it is.
//
// Thread-safe; never blocks for longer than a look-up takes.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <absl/container/flat_hash_map.h>

#include "engine/base/mutex.h"

namespace projections::search {

// Whether a search can name the key of a member.
bool IsPathKey(std::string_view key);
// How many keys a path has at most. Documents are not deeper (api/json/parser.h).
inline constexpr std::size_t kMaxPathKeys = 64;

// Grows only: a number is that of its path for ever. Bounded, so that a tenant who makes up a
// member for each resource does not fill the memory: 16 MB of texts.
class SpecPaths {
 public:
  using Id = std::uint16_t;
  static constexpr std::size_t kMaxPaths = 65'536;
  static constexpr std::size_t kMaxBytes = 255;  // Of one.

  // The number of the path, whose keys have a dot between them. Empty: nothing got one.
  std::optional<Id> Find(std::string_view path) const;
  // The same, but gives the path one. Empty: it is too long, or there are too many.
  std::optional<Id> Add(std::string_view path);

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view path) const;
  };
  struct Equal {
    using is_transparent = void;
    bool operator()(std::string_view a, std::string_view b) const { return a == b; }
  };

  mutable engine::Mutex mutex_;
  absl::flat_hash_map<std::string, Id, Hash, Equal> ids_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace projections::search
