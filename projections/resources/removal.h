// RemovalPlan: who is marked as deleted and who goes when a resource is deleted.
// Included by remove.cc and force_delete.cc only.

#pragma once

#include <optional>
#include <vector>

#include "projections/resources/facts.h"
#include "projections/resources/rules.h"

namespace projections {

// One thread; never blocks. Use it for one request.
class RemovalPlan {
 public:
  struct Change {
    const ResourceEntry* entry = nullptr;
    // kInvalid: it is marked as deleted and stays. Otherwise it goes, for that cause.
    schemas::RemovalCause cause = schemas::RemovalCause::kInvalid;
    bool removes() const { return cause != schemas::RemovalCause::kInvalid; }
  };

  RemovalPlan(const Registry& registry, TrackedResources& resources)
      : registry_(registry), resources_(resources) {}

  // Plans what DELETE of an active resource does. On a refusal the plan is void.
  std::optional<Refusal> Delete(const ResourceEntry& target);
  // Plans that the resource and everything below it go, whatever their state.
  void ForceDelete(const ResourceEntry& target);

  // A resource before those below it; owners that go because of it come last.
  std::vector<Change> TakeChanges();

 private:
  // Returns whether `entry` is gone afterwards; empty when refused.
  std::optional<bool> PlanDelete(const ResourceEntry& entry, schemas::RemovalCause cause);
  std::optional<bool> PlanChildren(const ResourceEntry& entry);
  void PlanForced(const ResourceEntry& entry);
  // Owners that are finalizing and only waited for `gone`.
  void PlanOwnersOf(const ResourceEntry& gone);
  bool NeedsAdapters(const ResourceEntry& entry) const;
  void RefuseForChild(const ResourceEntry& entry, const ResourceEntry& child);

  const Registry& registry_;
  TrackedResources& resources_;
  std::optional<Refusal> refusal_;
  std::vector<Change> tree_;  // A resource after those below it.
  std::vector<Change> owners_;
};

// Drafts of everything in the plan, noted in the footprint. A refusal if it is more than one
// transaction can hold. `removal_reason` is for the tombstones.
struct Removal {
  std::string actor;
  std::string reason;
  engine::Timestamp now;
};
std::optional<Refusal> DraftChanges(const std::vector<RemovalPlan::Change>& changes,
                                    const Removal& removal, TrackedResources& resources,
                                    engine::Proposal& proposal);

// `entry` as it is once it is marked: itself, if it is already.
ResourceState MarkedState(const ResourceEntry& entry, const Removal& removal);

}  // namespace projections
