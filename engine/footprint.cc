#include "engine/footprint.h"

#include <algorithm>

namespace engine {

bool ChangedFacts::Touch(const Footprint& footprint) const {
  const auto changed = [this](const std::string& fact) { return facts_.contains(fact); };
  const auto changed_under = [this](const std::string& prefix) {
    const auto first = facts_.lower_bound(prefix);
    return first != facts_.end() && std::string_view(*first).starts_with(prefix);
  };
  return std::ranges::any_of(footprint.reads(), changed) ||
         std::ranges::any_of(footprint.writes(), changed) ||
         std::ranges::any_of(footprint.prefixes(), changed_under);
}

void ChangedFacts::Add(const Footprint& footprint) {
  facts_.insert(footprint.writes().begin(), footprint.writes().end());
}

}  // namespace engine
