// Registry: which kinds of resources there are, and what holds for each of them.
//
// Read from configuration (key `entities`) or the stock set; fixed for the life of the process.
// Keys and their meaning: docs/resources.md.

#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <absl/container/flat_hash_map.h>
#include <absl/status/statusor.h>

namespace projections {

// What becomes of a resource when its parent is deleted.
enum class OnParentDelete {
  kUnset,     // Only for kinds without a parent.
  kRestrict,  // While it is active, its parent cannot be deleted.
  kCascade,   // It is deleted with its parent.
};

// A link to another kind that owns nothing.
struct ReferenceDescriptor {
  std::string ref_type;
  std::string target_kind;
  int min = 0;
  int max = 0;  // 0: no limit.
};

// A condition that is made from adapter reports by expressions (CEL).
struct ConditionRule {
  std::string type;
  std::string when_expression;  // Whether the rule applies.
  std::string status_expression;
  std::string reason_expression;   // Empty: no reason.
  std::string message_expression;  // Empty: no message.
};

class ConditionRules;

struct EntityDescriptor {
  std::string kind;         // `Cluster`
  std::string plural;       // `clusters`, the segment of the URL.
  std::string parent_kind;  // Empty: a root.
  OnParentDelete on_parent_delete = OnParentDelete::kUnset;
  std::string spec_schema_name;  // In the configured OpenAPI file; empty: any object.
  bool require_spec_schema = false;
  std::vector<std::string> required_adapters;
  std::vector<ReferenceDescriptor> references;
  std::vector<ConditionRule> conditions = {};
  // What those were compiled into, by Registry::Create; null: there are none.
  std::shared_ptr<const ConditionRules> condition_rules = {};
  // Bytes; 0: no bound of its own.
  int name_min_len = 0;
  int name_max_len = 0;

  bool is_root() const { return parent_kind.empty(); }
};

// The type of the condition that an adapter's reports make: `my-adapter` gives
// `MyAdapterSuccessful`.
std::string AdapterConditionType(std::string_view adapter);

// Immutable, so thread-safe; never blocks.
class Registry {
 public:
  // A name may be no longer than this where its kind does not say.
  static constexpr std::size_t kDefaultMaxName = 100;

  // Fails with kInvalidArgument, naming the kind and what is wrong with it: an empty or duplicate
  // kind or plural, a reserved or malformed plural, an unknown parent, a cycle of parents, a
  // parent without `on_parent_delete` or the reverse, bounds that contradict each other, an empty,
  // overlong or duplicate adapter, two adapters that make one condition, over 64 adapters or
  // conditions, an unknown target or duplicate type
  // of a reference, a cycle of required references, a condition without type or expressions, whose
  // type is malformed, duplicate or reserved, or with an expression that cannot be compiled.
  static absl::StatusOr<Registry> Create(std::vector<EntityDescriptor> entities);

  // Cluster, NodePool, Channel, Version and WifConfig.
  static Registry Stock();

  // Null when there is none. Lives as long as the registry.
  const EntityDescriptor* FindKind(std::string_view kind) const;
  const EntityDescriptor* FindPlural(std::string_view plural) const;

  // Every kind, in the order of the configuration.
  const std::vector<EntityDescriptor>& entities() const { return entities_; }

 private:
  explicit Registry(std::vector<EntityDescriptor> entities);

  std::vector<EntityDescriptor> entities_;
  absl::flat_hash_map<std::string, std::size_t> by_kind_;
  absl::flat_hash_map<std::string, std::size_t> by_plural_;
};

}  // namespace projections
