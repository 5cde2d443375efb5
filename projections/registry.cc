#include "projections/registry.h"

#include <algorithm>
#include <array>
#include <functional>
#include <set>
#include <utility>

#include <absl/status/status.h>
#include <absl/strings/str_format.h>

#include "engine/base/check.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "projections/conditions/rules.h"
#include "projections/statuses/keys.h"

namespace projections {
namespace {

using Entities = std::vector<EntityDescriptor>;

// Segments that routes of their own take.
constexpr std::array<std::string_view, 2> kReservedPlurals = {"resources", "openapi"};
// The same below a resource, where those of its children stand too.
constexpr std::array<std::string_view, 3> kReservedBelow = {"statuses", "history", "force-delete"};
constexpr std::size_t kMaxKind = 100;
constexpr std::size_t kMaxConditionType = 100;
// All conditions of a resource are one record, whatever they say: see kMaxCopiedMessage.
constexpr std::size_t kMaxAdapters = 64;
constexpr std::size_t kMaxConditionRules = 64;

absl::Status Wrong(const EntityDescriptor& entity, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrFormat("entities: %s: %s", entity.kind, what));
}

const EntityDescriptor* Find(const Entities& entities, std::string_view kind) {
  const auto found = std::ranges::find(entities, kind, &EntityDescriptor::kind);
  return found == entities.end() ? nullptr : &*found;
}

bool IsSegment(std::string_view plural) {
  return std::ranges::all_of(plural, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

absl::Status CheckNames(const EntityDescriptor& entity) {
  if (entity.kind.empty()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("entities: an entity has no kind (plural \"%s\")", entity.plural));
  }
  if (entity.kind.size() > kMaxKind) {
    return Wrong(entity, "kind is longer than 100 bytes");
  }
  if (entity.plural.empty()) {
    return Wrong(entity, "plural is missing");
  }
  if (!IsSegment(entity.plural)) {
    return Wrong(entity,
                 absl::StrFormat("plural \"%s\" is no lower-case URL segment", entity.plural));
  }
  if (std::ranges::find(kReservedPlurals, entity.plural) != kReservedPlurals.end()) {
    return Wrong(entity, absl::StrFormat("plural \"%s\" is reserved", entity.plural));
  }
  if (!entity.is_root() &&
      std::ranges::find(kReservedBelow, entity.plural) != kReservedBelow.end()) {
    return Wrong(entity,
                 absl::StrFormat("plural \"%s\" is reserved below other resources", entity.plural));
  }
  return absl::OkStatus();
}

absl::Status CheckBounds(const EntityDescriptor& entity) {
  if (entity.name_min_len < 0 || entity.name_max_len < 0) {
    return Wrong(entity, "name_min_len and name_max_len cannot be negative");
  }
  if (entity.name_max_len > 0 && entity.name_max_len < entity.name_min_len) {
    return Wrong(entity, absl::StrFormat("name_max_len %d is less than name_min_len %d",
                                         entity.name_max_len, entity.name_min_len));
  }
  if (entity.name_max_len == 0 &&
      static_cast<std::size_t>(entity.name_min_len) > Registry::kDefaultMaxName) {
    return Wrong(entity, absl::StrFormat("name_min_len %d needs a name_max_len: without one names "
                                         "have up to %d bytes",
                                         entity.name_min_len, Registry::kDefaultMaxName));
  }
  if (!GUARD("registry.adapters", entity.required_adapters.size() <= kMaxAdapters)) {
    return Wrong(entity, absl::StrFormat("over %d required adapters", kMaxAdapters));
  }
  if (!GUARD("registry.rules", entity.conditions.size() <= kMaxConditionRules)) {
    return Wrong(entity, absl::StrFormat("over %d conditions", kMaxConditionRules));
  }
  std::set<std::string_view> adapters;
  std::set<std::string> types;
  for (const std::string& adapter : entity.required_adapters) {
    if (adapter.empty() || !adapters.insert(adapter).second) {
      return Wrong(entity,
                   absl::StrFormat("required adapter \"%s\" is empty or named twice", adapter));
    }
    if (!types.insert(AdapterConditionType(adapter)).second) {
      return Wrong(entity, absl::StrFormat("required adapter \"%s\": another one makes the "
                                           "condition %s too",
                                           adapter, AdapterConditionType(adapter)));
    }
    if (adapter.size() > kMaxAdapterName) {
      return Wrong(entity, absl::StrFormat("a required adapter's name is over %d bytes: none can "
                                           "report under it",
                                           kMaxAdapterName));
    }
  }
  if (entity.require_spec_schema && entity.spec_schema_name.empty()) {
    return Wrong(entity, "require_spec_schema needs a spec_schema_name");
  }
  return absl::OkStatus();
}

absl::Status CheckUnique(const Entities& entities) {
  std::set<std::string_view> kinds;
  std::set<std::string_view> plurals;
  for (const EntityDescriptor& entity : entities) {
    if (!kinds.insert(entity.kind).second) {
      return Wrong(entity, "kind is registered twice");
    }
    if (!plurals.insert(entity.plural).second) {
      return Wrong(entity, absl::StrFormat("plural \"%s\" is registered twice", entity.plural));
    }
  }
  return absl::OkStatus();
}

// As searches can name it.
bool IsConditionType(std::string_view type) {
  return !type.empty() && type.size() <= kMaxConditionType && type.front() >= 'A' &&
         type.front() <= 'Z' && std::ranges::all_of(type, [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
         });
}

// Types of conditions that the server itself makes, of whatever kind.
std::set<std::string> ReservedConditions(const Entities& entities) {
  std::set<std::string> reserved = {"Reconciled", "LastKnownReconciled"};
  for (const EntityDescriptor& entity : entities) {
    for (const std::string& adapter : entity.required_adapters) {
      reserved.insert(AdapterConditionType(adapter));
    }
  }
  return reserved;
}

absl::Status CheckConditions(const EntityDescriptor& entity,
                             const std::set<std::string>& reserved) {
  std::set<std::string_view> types;
  for (const ConditionRule& rule : entity.conditions) {
    if (!IsConditionType(rule.type)) {
      return Wrong(entity, absl::StrFormat("condition type \"%s\" must be up to 100 letters and "
                                           "digits, an upper-case letter first",
                                           rule.type));
    }
    if (!types.insert(rule.type).second) {
      return Wrong(entity, absl::StrFormat("condition type \"%s\" is named twice", rule.type));
    }
    if (reserved.contains(rule.type)) {
      return Wrong(entity, absl::StrFormat("condition type \"%s\" is reserved", rule.type));
    }
    if (rule.when_expression.empty() || rule.status_expression.empty()) {
      return Wrong(entity, absl::StrFormat("condition \"%s\" needs expressions for when and for "
                                           "output.status",
                                           rule.type));
    }
  }
  return absl::OkStatus();
}

absl::Status CompileConditions(EntityDescriptor& entity) {
  if (entity.conditions.empty()) {
    return absl::OkStatus();
  }
  auto rules = ConditionRules::Compile(entity.conditions);
  if (!rules.ok()) {
    const auto why = rules.status().message();
    return Wrong(entity, std::string(why));
  }
  entity.condition_rules = std::make_shared<const ConditionRules>(*std::move(rules));
  return absl::OkStatus();
}

absl::Status CheckParent(const EntityDescriptor& entity, const Entities& entities) {
  const bool has_policy = entity.on_parent_delete != OnParentDelete::kUnset;
  if (entity.is_root()) {
    return has_policy ? Wrong(entity, "on_parent_delete needs a parent_kind") : absl::OkStatus();
  }
  if (!has_policy) {
    return Wrong(entity, "on_parent_delete must be restrict or cascade, since it has a parent");
  }
  // One step for each kind is enough to come back to where it started.
  const EntityDescriptor* at = &entity;
  for (std::size_t steps = 0; !at->is_root(); ++steps) {
    const EntityDescriptor* parent = Find(entities, at->parent_kind);
    if (parent == nullptr) {
      return Wrong(*at, absl::StrFormat("parent_kind \"%s\" is not registered", at->parent_kind));
    }
    if (steps == entities.size()) {
      return Wrong(entity, "its parents form a cycle");
    }
    at = parent;
  }
  return absl::OkStatus();
}

absl::Status CheckReferences(const EntityDescriptor& entity, const Entities& entities) {
  std::set<std::string_view> types;
  for (const ReferenceDescriptor& reference : entity.references) {
    if (reference.ref_type.empty() || !types.insert(reference.ref_type).second) {
      return Wrong(entity, absl::StrFormat("reference type \"%s\" is empty or named twice",
                                           reference.ref_type));
    }
    if (Find(entities, reference.target_kind) == nullptr) {
      return Wrong(entity, absl::StrFormat("reference \"%s\": target_kind \"%s\" is not registered",
                                           reference.ref_type, reference.target_kind));
    }
    if (reference.min < 0 || reference.max < 0 ||
        (reference.max > 0 && reference.max < reference.min)) {
      return Wrong(entity, absl::StrFormat("reference \"%s\": max %d and min %d contradict",
                                           reference.ref_type, reference.max, reference.min));
    }
  }
  return absl::OkStatus();
}

// Two kinds that require each other could never be created.
absl::Status CheckRequiredReferences(const Entities& entities) {
  std::set<std::string_view> done;
  std::set<std::string_view> on_path;
  const std::function<absl::Status(const EntityDescriptor&)> visit =
      [&](const EntityDescriptor& entity) -> absl::Status {
    if (done.contains(entity.kind)) {
      return absl::OkStatus();
    }
    if (!on_path.insert(entity.kind).second) {
      return Wrong(entity, "its required references form a cycle");
    }
    for (const ReferenceDescriptor& reference : entity.references) {
      if (reference.min > 0) {
        RETURN_IF_ERROR(visit(*Find(entities, reference.target_kind)));
      }
    }
    on_path.erase(entity.kind);
    done.insert(entity.kind);
    return absl::OkStatus();
  };
  for (const EntityDescriptor& entity : entities) {
    RETURN_IF_ERROR(visit(entity));
  }
  return absl::OkStatus();
}

}  // namespace

// Adapters have ASCII names; of any other letter there is no upper case here.
std::string AdapterConditionType(std::string_view adapter) {
  std::string type;
  bool starts = true;
  for (const char c : adapter) {
    if (c != '-') {
      type += starts && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    }
    starts = c == '-';
  }
  return type + "Successful";
}

absl::StatusOr<Registry> Registry::Create(std::vector<EntityDescriptor> entities) {
  for (const EntityDescriptor& entity : entities) {
    RETURN_IF_ERROR(CheckNames(entity));
    RETURN_IF_ERROR(CheckBounds(entity));
  }
  RETURN_IF_ERROR(CheckUnique(entities));
  const std::set<std::string> reserved = ReservedConditions(entities);
  for (const EntityDescriptor& entity : entities) {
    RETURN_IF_ERROR(CheckConditions(entity, reserved));
    RETURN_IF_ERROR(CheckParent(entity, entities));
    RETURN_IF_ERROR(CheckReferences(entity, entities));
  }
  RETURN_IF_ERROR(CheckRequiredReferences(entities));
  for (EntityDescriptor& entity : entities) {
    RETURN_IF_ERROR(CompileConditions(entity));
  }
  return Registry(std::move(entities));
}

Registry Registry::Stock() {
  std::vector<EntityDescriptor> entities = {
      {.kind = "Cluster",
       .plural = "clusters",
       .parent_kind = {},
       .spec_schema_name = "ClusterSpec",
       .require_spec_schema = true,
       .required_adapters = {"validation", "dns", "pullsecret", "hypershift"},
       .references = {},
       .name_min_len = 3,
       .name_max_len = 53},
      {.kind = "NodePool",
       .plural = "nodepools",
       .parent_kind = "Cluster",
       .on_parent_delete = OnParentDelete::kCascade,
       .spec_schema_name = "NodePoolSpec",
       .require_spec_schema = true,
       .required_adapters = {"validation", "hypershift"},
       .references = {},
       .name_min_len = 3,
       .name_max_len = 15},
      {.kind = "Channel",
       .plural = "channels",
       .parent_kind = {},
       .spec_schema_name = "ChannelSpec",
       .required_adapters = {},
       .references = {}},
      {.kind = "Version",
       .plural = "versions",
       .parent_kind = "Channel",
       .on_parent_delete = OnParentDelete::kRestrict,
       .spec_schema_name = "VersionSpec",
       .required_adapters = {},
       .references = {}},
      {.kind = "WifConfig",
       .plural = "wifconfigs",
       .parent_kind = {},
       .spec_schema_name = "WifConfigSpec",
       .required_adapters = {},
       .references = {}},
  };
  absl::StatusOr<Registry> registry = Create(std::move(entities));
  ENGINE_CHECK(registry.ok());
  return *std::move(registry);
}

Registry::Registry(std::vector<EntityDescriptor> entities) : entities_(std::move(entities)) {
  for (std::size_t i = 0; i < entities_.size(); ++i) {
    by_kind_[entities_[i].kind] = i;
    by_plural_[entities_[i].plural] = i;
  }
}

// The maps are of std::string: this Abseil cannot look up by std::string_view.
const EntityDescriptor* Registry::FindKind(std::string_view kind) const {
  const auto found = by_kind_.find(std::string(kind));
  return found == by_kind_.end() ? nullptr : &entities_[found->second];
}

const EntityDescriptor* Registry::FindPlural(std::string_view plural) const {
  const auto found = by_plural_.find(std::string(plural));
  return found == by_plural_.end() ? nullptr : &entities_[found->second];
}

}  // namespace projections
