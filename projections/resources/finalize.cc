#include "projections/resources/finalize.h"

#include <string>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "projections/resources/conditions.h"
#include "projections/resources/drafts.h"
#include "projections/resources/facts.h"
#include "projections/resources/removal.h"

namespace projections {

bool IsFinished(const ResourceEntry& entry, const std::vector<AdapterView>& views,
                bool has_children, const RuleContext& context) {
  const EntityDescriptor* descriptor = context.registry.FindKind(entry.kind());
  return descriptor != nullptr && entry.is_deleting() &&
         GUARD("statuses.finalize-children", !has_children) &&
         AllFinalized(descriptor->required_adapters, entry.table().generation(), views);
}

Judgement Finalize(const ResourceEntry& entry, std::string_view actor, std::string_view adapter,
                   const RuleContext& context) {
  TrackedResources resources(context.image, context.footprint);
  TrackedStatuses statuses(context.statuses, context.footprint);
  RemovalPlan plan(context.registry, resources, statuses);
  plan.Finalize(entry);
  const std::vector<RemovalPlan::Change> changes = plan.TakeChanges();
  const Removal removal{.actor = std::string(actor), .reason = {}, .now = context.now};
  Judgement judgement;
  if (auto refusal = DraftChanges(changes, removal, resources, judgement.proposal)) {
    return Refuse(*std::move(refusal));
  }
  engine::AuditDraft audit = AuditOf("finalize", entry, context.registry, std::string(actor));
  if (!adapter.empty()) {
    audit.details["adapter"] = std::string(adapter);
  }
  audit.details["removed"] = absl::StrFormat("%d", changes.size());
  judgement.proposal.audit = std::move(audit);
  return Conclude(std::move(judgement), {}, context);
}

}  // namespace projections
