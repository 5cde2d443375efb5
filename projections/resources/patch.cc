// The rule of PATCH: spec, labels and references are replaced, each as a whole.

#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "projections/resources/conditions.h"
#include "projections/resources/drafts.h"
#include "projections/resources/facts.h"

namespace projections {
namespace {

// Puts the wanted values into `state`; `references` are the resolved ones. Returns whether
// anything is different now.
bool Change(const PatchRequest& request, std::vector<ReferenceState> references,
            ResourceState& state) {
  bool changed = false;
  if (request.spec.has_value() && *request.spec != state.spec) {
    state.spec = *request.spec;
    changed = true;
  }
  if (request.labels.has_value() && *request.labels != state.labels) {
    state.labels = *request.labels;
    changed = true;
  }
  if (request.references.has_value() && references != state.references) {
    state.references = std::move(references);
    changed = true;
  }
  return changed;
}

// A kind that is not registered any more has no types of references left: they can be cleared.
ResolvedReferences Resolve(const PatchRequest& request, const ResourceEntry& entry,
                           const RuleContext& context, TrackedResources& tracked) {
  if (!request.references.has_value()) {
    return {};
  }
  const EntityDescriptor* descriptor = context.registry.FindKind(entry.kind());
  EntityDescriptor unknown;
  unknown.kind = entry.kind();
  return ResolveReferences(*request.references, descriptor == nullptr ? unknown : *descriptor,
                           request.target.tenant, tracked);
}

}  // namespace

Judgement JudgePatch(const PatchRequest& request, const RuleContext& context) {
  FoundTarget found =
      FindTarget(request.target, context.registry, context.image, &context.footprint);
  if (found.refusal.has_value()) {
    return Refuse(*std::move(found.refusal));
  }
  const ResourceEntry& entry = *found.entry;
  if (request.spec.has_value() && request.check_spec != nullptr) {
    if (std::optional<Refusal> refusal = request.check_spec(entry.kind())) {
      return Refuse(*std::move(refusal));
    }
  }
  if (std::optional<Refusal> refusal = CheckVersion(entry, request.if_match)) {
    return Refuse(*std::move(refusal));
  }
  if (!GUARD("resources.patch-active", !entry.is_deleting())) {
    return Refuse(RefusalReason::kMarkedForDeletion,
                  absl::StrFormat("%s '%s' is marked for deletion and cannot be changed",
                                  entry.kind(), entry.id()));
  }
  TrackedResources tracked(context.image, context.footprint);
  ResolvedReferences resolved = Resolve(request, entry, context, tracked);
  if (!resolved.errors.empty()) {
    return RefuseReferences(std::move(resolved.errors));
  }
  ResourceState state = StateOf(entry.table());
  if (!Change(request, std::move(resolved.references), state)) {
    return Unchanged(entry, context);
  }
  if (std::optional<Refusal> refusal = CheckSize(state)) {
    return Refuse(*std::move(refusal));
  }
  ++state.generation;
  state.updated_time = context.now;
  state.updated_by = request.actor;

  tracked.NotePatched(entry, state);
  Judgement judgement;
  judgement.proposal.records.push_back(DraftOf(state, entry.position()));
  judgement.proposal.audit = AuditOf("patch", state, context.registry, request.actor);
  const std::string shown = judgement.proposal.records.back().payload;
  return Conclude(std::move(judgement), shown, context);
}

}  // namespace projections
