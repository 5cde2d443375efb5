// The rule of DELETE: a resource is marked, or goes at once if nothing has to be waited for.

#include <algorithm>
#include <utility>

#include <absl/strings/str_format.h>

#include "projections/resources/conditions.h"
#include "projections/resources/drafts.h"
#include "projections/resources/facts.h"
#include "projections/resources/removal.h"

namespace projections {

Judgement JudgeDelete(const DeleteRequest& request, const RuleContext& context) {
  FoundTarget found =
      FindTarget(request.target, context.registry, context.image, &context.footprint);
  if (found.refusal.has_value()) {
    return Refuse(*std::move(found.refusal));
  }
  const ResourceEntry& entry = *found.entry;
  if (std::optional<Refusal> refusal = CheckVersion(entry, request.if_match)) {
    return Refuse(*std::move(refusal));
  }
  if (entry.is_deleting()) {
    return Unchanged(entry, context);
  }
  TrackedResources resources(context.image, context.footprint);
  TrackedStatuses statuses(context.statuses, context.footprint);
  RemovalPlan plan(context.registry, resources, statuses);
  if (std::optional<Refusal> refusal = plan.Delete(entry, request.target.tenant)) {
    return Refuse(*std::move(refusal));
  }
  const std::vector<RemovalPlan::Change> changes = plan.TakeChanges();
  const Removal removal{.actor = request.actor, .reason = {}, .now = context.now};
  Judgement judgement;
  if (auto refusal = DraftChanges(changes, removal, resources, judgement.proposal)) {
    return Refuse(*std::move(refusal));
  }
  const ResourceState marked = MarkedState(entry, removal);
  engine::AuditDraft audit = AuditOf("delete", marked, context.registry, request.actor);
  const auto removed = std::ranges::count_if(changes, &RemovalPlan::Change::removes);
  audit.details["removed"] = absl::StrFormat("%d", removed);
  audit.details["finalizing"] =
      absl::StrFormat("%d", static_cast<std::ptrdiff_t>(changes.size()) - removed);
  judgement.proposal.audit = std::move(audit);
  return Conclude(std::move(judgement), EncodeResource(marked), context);
}

}  // namespace projections
