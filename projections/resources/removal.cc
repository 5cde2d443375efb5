#include "projections/resources/removal.h"

#include <algorithm>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "projections/resources/drafts.h"

namespace projections {
namespace {

using schemas::RemovalCause;

// Room for the audit entry.
constexpr std::size_t kMaxRemovalBytes = engine::kMaxTransactionBytes - (std::size_t{64} << 10);

}  // namespace

std::optional<Refusal> RemovalPlan::Delete(const ResourceEntry& target) {
  const std::optional<bool> gone = PlanDelete(target, RemovalCause::kDeleted);
  if (!gone.has_value()) {
    return std::move(refusal_);
  }
  if (*gone) {
    PlanOwnersOf(target);
  }
  return std::nullopt;
}

void RemovalPlan::ForceDelete(const ResourceEntry& target) {
  PlanForced(target);
  PlanOwnersOf(target);
}

std::vector<RemovalPlan::Change> RemovalPlan::TakeChanges() {
  std::vector<Change> changes(tree_.rbegin(), tree_.rend());
  changes.insert(changes.end(), owners_.begin(), owners_.end());
  return changes;
}

std::optional<bool> RemovalPlan::PlanDelete(const ResourceEntry& entry, RemovalCause cause) {
  const std::optional<bool> child_remains = PlanChildren(entry);
  if (!child_remains.has_value()) {
    return std::nullopt;
  }
  const bool gone = !*child_remains && !NeedsAdapters(entry);
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
  refusal_ = Refusal{RefusalReason::kActiveChildren,
                     absl::StrFormat("%s '%s' cannot be deleted: it has an active %s, '%s'",
                                     entry.kind(), entry.name(), child.kind(), child.name()),
                     {}};
}

void RemovalPlan::PlanForced(const ResourceEntry& entry) {
  for (const ResourceEntry* child : resources_.Children(entry.id())) {
    resources_.Use(*child);
    PlanForced(*child);
  }
  tree_.push_back({&entry, RemovalCause::kForced});
}

void RemovalPlan::PlanOwnersOf(const ResourceEntry& gone) {
  const ResourceEntry* last = &gone;
  while (!last->is_root()) {
    const ResourceEntry* owner = resources_.Find(last->owner_id());
    if (owner == nullptr || !owner->is_deleting() || NeedsAdapters(*owner)) {
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

// A kind that is not registered any more requires none.
bool RemovalPlan::NeedsAdapters(const ResourceEntry& entry) const {
  const EntityDescriptor* descriptor = registry_.FindKind(entry.kind());
  return descriptor != nullptr && !descriptor->required_adapters.empty();
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

std::optional<Refusal> DraftChanges(const std::vector<RemovalPlan::Change>& changes,
                                    const Removal& removal, TrackedResources& resources,
                                    engine::Proposal& proposal) {
  std::size_t bytes = 0;
  for (const RemovalPlan::Change& change : changes) {
    const ResourceEntry& entry = *change.entry;
    resources.NoteDeleted(entry);
    proposal.records.push_back(change.removes()
                                   ? DraftOf(TombstoneState{std::string(entry.id()), change.cause,
                                                            removal.actor, removal.reason},
                                             entry.position())
                                   : DraftOf(MarkedState(entry, removal), entry.position()));
    const engine::RecordDraft& draft = proposal.records.back();
    bytes += engine::RowCost(draft.key.size(), draft.payload.size());
    if (bytes > kMaxRemovalBytes) {
      return Refusal{RefusalReason::kTooLarge,
                     absl::StrFormat("the resources below %s '%s' are too many to delete in one "
                                     "transaction: delete some of them first",
                                     changes.front().entry->kind(), changes.front().entry->name()),
                     {}};
    }
  }
  return std::nullopt;
}

}  // namespace projections
