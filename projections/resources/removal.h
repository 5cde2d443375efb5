// RemovalPlan: who is marked as deleted and who goes when a resource is deleted, and who loses
// references because of it.
// Included by the rules' .cc files only.

#pragma once

#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "projections/resources/facts.h"
#include "projections/resources/rules.h"
#include "projections/statuses/facts.h"

namespace projections {

// One thread; never blocks. Use it for one request.
class RemovalPlan {
 public:
  struct Change {
    const ResourceEntry* entry = nullptr;
    // kInvalid: it stays, and is marked as deleted unless it is released. Otherwise it goes, for
    // that cause.
    schemas::RemovalCause cause = schemas::RemovalCause::kInvalid;
    // Not null: it stays as it is, but for references to what goes.
    std::shared_ptr<const ResourceState> released = nullptr;
    bool removes() const { return cause != schemas::RemovalCause::kInvalid; }
  };

  RemovalPlan(const Registry& registry, TrackedResources& resources, TrackedStatuses& statuses)
      : registry_(registry), resources_(resources), statuses_(statuses) {}

  // Plans what DELETE of an active resource does. Refused if a child restricts, or if anything
  // outside of the plan refers to anything in it; the plan is void then. All resources count, but
  // the refusal names only what `tenant` sees.
  std::optional<Refusal> Delete(const ResourceEntry& target, const TenantScope& tenant);
  // Plans that the resource and everything below it go, whatever their state, and that what refers
  // to them lets go. Refused if that would leave somebody fewer references than its kind demands.
  // The refusal names only what `tenant` sees.
  std::optional<Refusal> ForceDelete(const ResourceEntry& target, const TenantScope& tenant);

  // Plans that a finalizing resource goes which waits for nothing any more.
  void Finalize(const ResourceEntry& target);

  // A resource before those below it, then owners that go because of it, then who is released.
  std::vector<Change> TakeChanges();

 private:
  // By id: in the order in which they were made, so that answers do not depend on addresses.
  struct OlderFirst {
    bool operator()(const ResourceEntry* a, const ResourceEntry* b) const {
      return a->id() < b->id();
    }
  };

  // Returns whether `entry` is gone afterwards; empty when refused, or when there is no room for
  // it.
  std::optional<bool> PlanDelete(const ResourceEntry& entry, schemas::RemovalCause cause);
  std::optional<bool> PlanChildren(const ResourceEntry& entry);
  // False when there is no room for it.
  bool PlanForced(const ResourceEntry& entry);
  // Whether one more may come into the plan. What can never fit one transaction is not looked
  // through to its end: all other writers wait meanwhile.
  bool HasRoom() const;
  // Owners that are finalizing and only waited for `gone`.
  void PlanOwnersOf(const ResourceEntry& gone);
  // For adapters that have yet to say that they are done with it.
  bool WaitsForAdapters(const ResourceEntry& entry);
  void RefuseForChild(const ResourceEntry& entry, const ResourceEntry& child);
  // Everything that is in the plan, as marked or as gone.
  std::set<const ResourceEntry*> Planned() const;
  // Whatever refers to something in the plan without being in it. Whoever asks sees all tenants'.
  std::set<const ResourceEntry*, OlderFirst> SourcesOutside();
  std::optional<Refusal> PlanRelease(const ResourceEntry& source,
                                     const std::set<const ResourceEntry*>& gone);

  const Registry& registry_;
  TrackedResources& resources_;
  TrackedStatuses& statuses_;
  TenantScope tenant_ = TenantScope::All();  // Whose names a refusal may tell.
  std::optional<Refusal> refusal_;
  std::vector<Change> tree_;  // A resource after those below it.
  std::vector<Change> owners_;
  std::vector<Change> released_;
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
