#include "projections/search/spec_paths.h"

#include <algorithm>

#include "engine/base/checksum.h"
#include "engine/base/guard.h"

namespace projections::search {

bool IsPathKey(std::string_view key) {
  return !key.empty() && std::ranges::all_of(key, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  });
}

std::size_t SpecPaths::Hash::operator()(std::string_view path) const {
  return engine::Checksum64(path);
}

std::optional<SpecPaths::Id> SpecPaths::Find(std::string_view path) const {
  engine::MutexLock lock(mutex_);
  const auto found = ids_.find(path);
  return found == ids_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<SpecPaths::Id> SpecPaths::Add(std::string_view path) {
  engine::MutexLock lock(mutex_);
  if (const auto found = ids_.find(path); found != ids_.end()) {
    return found->second;
  }
  if (path.size() > kMaxBytes || !GUARD("search.paths", ids_.size() < kMaxPaths)) {
    return std::nullopt;
  }
  const auto id = static_cast<Id>(ids_.size());
  ids_.emplace(path, id);
  return id;
}

}  // namespace projections::search
