// ConditionRules: the conditions that a kind derives from what adapters report about a resource.
//
// A rule (`entities[].conditions` of the configuration) has a type, an expression of CEL that says
// whether it applies, and one each for status, reason and message. docs/resources.md has what
// expressions see and may do.
//
// Immutable, so thread-safe; never blocks. Copies share what was compiled.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <absl/status/statusor.h>

#include "projections/registry.h"
#include "projections/statuses/aggregate.h"
#include "schemas/status_generated.h"

namespace projections {

inline constexpr std::size_t kMaxConditionReason = 256;
inline constexpr std::size_t kMaxConditionMessage = 2048;

class ConditionRules {
 public:
  // No rules: no conditions.
  ConditionRules() = default;

  // Fails with kInvalidArgument, naming the condition and the place: an expression that cannot be
  // read, or asks for what there is not.
  static absl::StatusOr<ConditionRules> Compile(std::span<const ConditionRule> rules);

  bool empty() const { return rules_ == nullptr; }

  // `resource` is the document of the resource, as JSON. Reports are seen in the order of their
  // adapters; one with a condition that is `Unknown` is not. The conditions are sorted by type.
  //
  // Fails with kInvalidArgument, naming the condition and the place, when an expression has no
  // value, or one of the wrong kind, and with kResourceExhausted when it costs too much.
  absl::StatusOr<std::vector<MappedCondition>> Run(
      std::string_view resource, std::span<const schemas::AdapterReport* const> reports) const;

 private:
  struct Rule;

  std::shared_ptr<const std::vector<Rule>> rules_;
};

}  // namespace projections
