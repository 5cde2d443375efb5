#include "projections/resources/removal.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "projections/resources/conditions.h"
#include "projections/resources/drafts.h"

namespace projections {
namespace {

using schemas::RemovalCause;

// Room for the audit entry.
constexpr std::size_t kMaxRemovalBytes = engine::kMaxTransactionBytes - (std::size_t{64} << 10);

// More changes than these have no room there, however small: no record has less than 64 bytes.
constexpr std::size_t kMaxPlanned = kMaxRemovalBytes / engine::RowCost(36, 64);

constexpr std::size_t kSourcesNamed = 10;

Refusal RefuseForSize(const ResourceEntry& target) {
  return {RefusalReason::kTooLarge,
          absl::StrFormat("the resources below %s '%s' are too many to delete in one transaction: "
                          "delete some of them first",
                          target.kind(), target.name()),
          {}};
}

Refusal RefuseForSources(const ResourceEntry& target,
                         const std::vector<const ResourceEntry*>& sources,
                         const TenantScope& tenant) {
  std::string named;
  std::size_t more = 0;
  bool has_hidden = false;  // How many there are is not the caller's business either.
  for (std::size_t count = 0; const ResourceEntry* source : sources) {
    if (!GUARD("resources.referenced-tenant", tenant.Sees(*source))) {
      has_hidden = true;
      continue;
    }
    if (count == kSourcesNamed) {
      ++more;
      continue;
    }
    named += absl::StrFormat("%s%s '%s'", count == 0 ? "" : ", ", source->kind(), source->name());
    ++count;
  }
  if (more > 0) {
    named += absl::StrFormat(" and %d more", more);
  }
  if (has_hidden) {
    named += named.empty() ? "what is not shown here" : ", and by what is not shown here";
  }
  return {RefusalReason::kReferenced,
          absl::StrFormat("%s '%s' cannot be deleted: it, or what would go with it, is referenced "
                          "by %s",
                          target.kind(), target.name(), named),
          {}};
}

}  // namespace

std::optional<Refusal> RemovalPlan::Delete(const ResourceEntry& target, const TenantScope& tenant) {
  tenant_ = tenant;
  const std::optional<bool> gone = PlanDelete(target, RemovalCause::kDeleted);
  if (!gone.has_value()) {
    return refusal_.has_value() ? std::move(refusal_) : RefuseForSize(target);
  }
  if (*gone) {
    PlanOwnersOf(target);
  }
  const auto outside = SourcesOutside();
  if (!GUARD("resources.referenced", outside.empty())) {
    return RefuseForSources(target, {outside.begin(), outside.end()}, tenant);
  }
  return std::nullopt;
}

std::optional<Refusal> RemovalPlan::ForceDelete(const ResourceEntry& target,
                                                const TenantScope& tenant) {
  tenant_ = tenant;
  if (!PlanForced(target)) {
    return RefuseForSize(target);
  }
  PlanOwnersOf(target);
  const std::set<const ResourceEntry*> gone = Planned();
  for (const ResourceEntry* source : SourcesOutside()) {
    if (auto refusal = PlanRelease(*source, gone)) {
      return refusal;
    }
  }
  return std::nullopt;
}

void RemovalPlan::Finalize(const ResourceEntry& target) {
  tree_.push_back({&target, RemovalCause::kFinalized});
  PlanOwnersOf(target);
}

std::vector<RemovalPlan::Change> RemovalPlan::TakeChanges() {
  std::vector<Change> changes(tree_.rbegin(), tree_.rend());
  changes.insert(changes.end(), owners_.begin(), owners_.end());
  changes.insert(changes.end(), released_.begin(), released_.end());
  return changes;
}

std::optional<bool> RemovalPlan::PlanDelete(const ResourceEntry& entry, RemovalCause cause) {
  const std::optional<bool> child_remains = PlanChildren(entry);
  if (!child_remains.has_value()) {
    return std::nullopt;
  }
  if (!HasRoom()) {
    return std::nullopt;
  }
  const bool gone = !*child_remains && !WaitsForAdapters(entry);
  if (gone) {
    tree_.push_back({&entry, entry.is_deleting() ? RemovalCause::kFinalized : cause});
  } else if (!entry.is_deleting()) {
    tree_.push_back({&entry, RemovalCause::kInvalid});
  }
  return gone;
}

// Returns whether a child remains.
std::optional<bool> RemovalPlan::PlanChildren(const ResourceEntry& entry) {
  bool remains = false;
  for (const ResourceEntry* child : resources_.Children(entry.id())) {
    const EntityDescriptor* descriptor = registry_.FindKind(child->kind());
    // A kind that is not registered any more has no policy; to keep what it has is the safe one.
    if (descriptor == nullptr || descriptor->on_parent_delete != OnParentDelete::kCascade) {
      if (!GUARD("resources.restrict", child->is_deleting())) {
        RefuseForChild(entry, *child);
        return std::nullopt;
      }
      remains = true;
      continue;
    }
    resources_.Use(*child);
    const std::optional<bool> gone = PlanDelete(*child, RemovalCause::kCascaded);
    if (!gone.has_value()) {
      return std::nullopt;
    }
    remains = remains || !*gone;
  }
  return remains;
}

void RemovalPlan::RefuseForChild(const ResourceEntry& entry, const ResourceEntry& child) {
  const auto name = [this](const ResourceEntry& of) {
    return GUARD("resources.restrict-tenant", tenant_.Sees(of))
               ? absl::StrFormat(" '%s'", of.name())
               : std::string();
  };
  refusal_ = Refusal{RefusalReason::kActiveChildren,
                     absl::StrFormat("%s%s cannot be deleted: it has an active %s%s", entry.kind(),
                                     name(entry), child.kind(), name(child)),
                     {}};
}

bool RemovalPlan::PlanForced(const ResourceEntry& entry) {
  for (const ResourceEntry* child : resources_.Children(entry.id())) {
    resources_.Use(*child);
    if (!PlanForced(*child)) {
      return false;
    }
  }
  tree_.push_back({&entry, RemovalCause::kForced});
  return HasRoom();
}

bool RemovalPlan::HasRoom() const {
  return GUARD("resources.removal-room", tree_.size() < kMaxPlanned);
}

void RemovalPlan::PlanOwnersOf(const ResourceEntry& gone) {
  const ResourceEntry* last = &gone;
  while (!last->is_root()) {
    const ResourceEntry* owner = resources_.Find(last->owner_id());
    if (owner == nullptr || !owner->is_deleting() || WaitsForAdapters(*owner)) {
      return;
    }
    const std::vector<const ResourceEntry*> children = resources_.Children(owner->id());
    const bool only_child =
        std::ranges::all_of(children, [last](const ResourceEntry* c) { return c == last; });
    if (!GUARD("resources.last-child", only_child)) {
      return;
    }
    owners_.push_back({owner, RemovalCause::kFinalized});
    last = owner;
  }
}

std::set<const ResourceEntry*> RemovalPlan::Planned() const {
  std::set<const ResourceEntry*> planned;
  for (const std::vector<Change>* changes : {&tree_, &owners_}) {
    for (const Change& change : *changes) {
      planned.insert(change.entry);
    }
  }
  return planned;
}

std::set<const ResourceEntry*, RemovalPlan::OlderFirst> RemovalPlan::SourcesOutside() {
  const std::set<const ResourceEntry*> planned = Planned();
  std::set<const ResourceEntry*, OlderFirst> outside;
  for (const ResourceEntry* target : planned) {
    for (const ResourceEntry* source : resources_.Sources(target->id())) {
      if (!planned.contains(source)) {
        outside.insert(source);
      }
    }
  }
  return outside;
}

std::optional<Refusal> RemovalPlan::PlanRelease(const ResourceEntry& source,
                                                const std::set<const ResourceEntry*>& gone) {
  resources_.Use(source);
  auto state = std::make_shared<ResourceState>(StateOf(source.table()));
  std::map<std::string, int> left;
  std::set<std::string> lost;
  std::vector<ReferenceState> kept;
  for (ReferenceState& reference : state->references) {
    const ResourceEntry* target = resources_.Find(reference.target_id);
    if (target != nullptr && gone.contains(target)) {
      lost.insert(reference.ref_type);
    } else {
      ++left[reference.ref_type];
      kept.push_back(std::move(reference));
    }
  }
  state->references = std::move(kept);
  const EntityDescriptor* descriptor = registry_.FindKind(source.kind());
  const auto breaks = [&](const ReferenceDescriptor& type) {
    return lost.contains(type.ref_type) && left[type.ref_type] < type.min;
  };
  const bool will_do =
      descriptor == nullptr || std::ranges::none_of(descriptor->references, breaks);
  if (!GUARD("resources.force-keeps-min", will_do)) {
    const std::string who = GUARD("resources.released-tenant", tenant_.Sees(source))
                                ? absl::StrFormat("%s '%s'", source.kind(), source.name())
                                : std::string("a resource");
    return Refusal{RefusalReason::kNeedsReference,
                   absl::StrFormat("%s refers to what would go and needs such a reference: change "
                                   "or delete it first",
                                   who),
                   {}};
  }
  released_.push_back({&source, RemovalCause::kInvalid, std::move(state)});
  return std::nullopt;
}

// A kind that is not registered any more requires none. What adapters said about an active resource
// says nothing about the one that is marked: that is another generation.
bool RemovalPlan::WaitsForAdapters(const ResourceEntry& entry) {
  const EntityDescriptor* descriptor = registry_.FindKind(entry.kind());
  if (descriptor == nullptr || descriptor->required_adapters.empty()) {
    return false;
  }
  return !GUARD("statuses.finalized-deleting", entry.is_deleting()) ||
         !AllFinalized(descriptor->required_adapters, entry.table().generation(),
                       ViewsOf(TablesOf(statuses_.Reports(entry.id()))));
}

ResourceState MarkedState(const ResourceEntry& entry, const Removal& removal) {
  ResourceState state = StateOf(entry.table());
  if (!state.deletion.has_value()) {
    ++state.generation;
    state.updated_time = removal.now;
    state.deletion = DeletionState{removal.now, removal.actor};
    state.references.clear();
  }
  return state;
}

namespace {

// Notes the change as well.
engine::RecordDraft DraftOf(const RemovalPlan::Change& change, const Removal& removal,
                            TrackedResources& resources) {
  const ResourceEntry& entry = *change.entry;
  if (change.released != nullptr) {
    ResourceState released = *change.released;
    released.updated_time = removal.now;
    released.updated_by = removal.actor;
    resources.NotePatched(entry, released);
    return DraftOf(released, entry.position());
  }
  resources.NoteDeleted(entry);
  if (!change.removes()) {
    return DraftOf(MarkedState(entry, removal), entry.position());
  }
  return DraftOf(
      TombstoneState{std::string(entry.id()), change.cause, removal.actor, removal.reason},
      entry.position());
}

}  // namespace

std::optional<Refusal> DraftChanges(const std::vector<RemovalPlan::Change>& changes,
                                    const Removal& removal, TrackedResources& resources,
                                    engine::Proposal& proposal) {
  std::size_t bytes = 0;
  for (const RemovalPlan::Change& change : changes) {
    proposal.records.push_back(DraftOf(change, removal, resources));
    const engine::RecordDraft& draft = proposal.records.back();
    bytes += engine::RowCost(draft.key.size(), draft.payload.size());
    if (bytes > kMaxRemovalBytes) {
      return RefuseForSize(*changes.front().entry);
    }
  }
  return std::nullopt;
}

}  // namespace projections
