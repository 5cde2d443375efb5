// The rule of force-delete: a finalizing resource and everything below it go, and whatever refers
// to them lets go.

#include <algorithm>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "projections/resources/conditions.h"
#include "projections/resources/drafts.h"
#include "projections/resources/facts.h"
#include "projections/resources/removal.h"

namespace projections {

Judgement JudgeForceDelete(const ForceDeleteRequest& request, const RuleContext& context) {
  FoundTarget found =
      FindTarget(request.target, context.registry, context.image, &context.footprint);
  if (found.refusal.has_value()) {
    return Refuse(*std::move(found.refusal));
  }
  const ResourceEntry& entry = *found.entry;
  if (std::optional<Refusal> refusal = CheckVersion(entry, request.if_match)) {
    return Refuse(*std::move(refusal));
  }
  if (!GUARD("resources.force-needs-delete", entry.is_deleting())) {
    return Refuse(RefusalReason::kNotDeleting,
                  absl::StrFormat("%s '%s' is not marked for deletion: delete it first",
                                  entry.kind(), entry.id()));
  }
  TrackedResources resources(context.image, context.footprint);
  TrackedStatuses statuses(context.statuses, context.footprint);
  RemovalPlan plan(context.registry, resources, statuses);
  if (std::optional<Refusal> refusal = plan.ForceDelete(entry, request.target.tenant)) {
    return Refuse(*std::move(refusal));
  }
  const std::vector<RemovalPlan::Change> changes = plan.TakeChanges();
  const Removal removal{.actor = request.actor, .reason = request.reason, .now = context.now};
  Judgement judgement;
  if (auto refusal = DraftChanges(changes, removal, resources, judgement.proposal)) {
    return Refuse(*std::move(refusal));
  }
  engine::AuditDraft audit = AuditOf("force-delete", entry, context.registry, request.actor);
  audit.details["reason"] = request.reason;
  const auto removed = std::ranges::count_if(changes, &RemovalPlan::Change::removes);
  audit.details["removed"] = absl::StrFormat("%d", removed);
  if (const auto released = std::ssize(changes) - removed; released > 0) {
    audit.details["released"] = absl::StrFormat("%d", released);
  }
  judgement.proposal.audit = std::move(audit);
  return Conclude(std::move(judgement), {}, context);
}

}  // namespace projections
