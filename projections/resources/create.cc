// The rule of POST: a resource comes to be.

#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/check.h"
#include "engine/base/guard.h"
#include "projections/resources/conditions.h"
#include "projections/resources/document.h"
#include "projections/resources/drafts.h"
#include "projections/resources/facts.h"

namespace projections {
namespace {

ResourceState NewState(const CreateRequest& request, engine::Timestamp now) {
  ResourceState state;
  state.id = request.id;
  state.kind = request.kind;
  state.name = request.name;
  state.spec = request.spec;
  state.labels = request.labels;
  state.tenancy = request.tenancy;
  state.created_time = now;
  state.created_by = request.actor;
  state.updated_time = now;
  state.updated_by = request.actor;
  return state;
}

// Fills in the owner. A refusal if the parent is not there, or on its way out.
std::optional<Refusal> Adopt(const CreateRequest& request, const EntityDescriptor& descriptor,
                             const RuleContext& context, ResourceState& state) {
  ENGINE_CHECK(descriptor.is_root() == request.parent_id.empty());
  if (descriptor.is_root()) {
    return std::nullopt;
  }
  TrackedResources resources(context.image, context.footprint);
  if (!request.above.empty()) {
    FoundTarget found = FindTarget(
        ParentIn(request.parent_id, descriptor.parent_kind, request.tenant, request.above),
        context.registry, context.image, &context.footprint);
    if (found.refusal.has_value()) {
      return Refusal{RefusalReason::kParentNotFound, std::move(found.refusal->detail), {}};
    }
  }
  const ResourceEntry* parent = resources.Find(request.parent_id);
  const bool is_there = parent != nullptr && parent->kind() == descriptor.parent_kind;
  if (!is_there || !GUARD("tenant.parent", request.tenant.Sees(*parent))) {
    return NotFound(descriptor.parent_kind, request.parent_id, RefusalReason::kParentNotFound);
  }
  if (!GUARD("resources.parent-active", !parent->is_deleting())) {
    return Refusal{RefusalReason::kMarkedForDeletion,
                   absl::StrFormat("%s '%s' is marked for deletion: no %s can be created in it",
                                   parent->kind(), parent->id(), descriptor.kind),
                   {}};
  }
  state.owner = OwnerState{std::string(parent->id()), std::string(parent->kind()),
                           std::string(schemas::Text(parent->table().href()))};
  return std::nullopt;
}

}  // namespace

Judgement JudgeCreate(const CreateRequest& request, const RuleContext& context) {
  const EntityDescriptor* descriptor = context.registry.FindKind(request.kind);
  ENGINE_CHECK(descriptor != nullptr);
  TrackedResources resources(context.image, context.footprint);
  if (resources.Find(request.id) != nullptr) {
    return Refuse(RefusalReason::kNameTaken,
                  absl::StrFormat("Resource with id='%s' already exists", request.id));
  }
  ResourceState state = NewState(request, context.now);
  if (std::optional<Refusal> refusal = Adopt(request, *descriptor, context, state)) {
    return Refuse(*std::move(refusal));
  }
  ResolvedReferences resolved =
      ResolveReferences(request.references, *descriptor, request.tenant, resources);
  if (!resolved.errors.empty()) {
    return RefuseReferences(std::move(resolved.errors));
  }
  state.references = std::move(resolved.references);
  const NameProbe name{request.kind, request.parent_id, request.name, request.tenancy};
  const bool name_is_free = resources.FindNamed(name) == nullptr;
  if (!GUARD("resources.name-unique", name_is_free)) {
    std::string detail =
        absl::StrFormat("%s with name '%s' already exists", request.kind, request.name);
    std::vector<FieldError> errors = {{"name", detail, "unique"}};
    return Refuse(RefusalReason::kNameTaken, std::move(detail), std::move(errors));
  }
  if (std::optional<Refusal> refusal = CheckSize(state)) {
    return Refuse(*std::move(refusal));
  }

  state.href = ResourceHref(state.owner.has_value() ? std::string_view(state.owner->href) : "",
                            descriptor->plural, state.id);
  resources.NoteCreated(state, name);
  Judgement judgement;
  judgement.proposal.records.push_back(DraftOf(state, engine::Position::kBeforeFirst));
  judgement.proposal.audit = AuditOf("create", state, context.registry, request.actor);
  const std::string shown = judgement.proposal.records.back().payload;
  return Conclude(std::move(judgement), shown, context);
}

}  // namespace projections
