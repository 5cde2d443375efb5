// What the rules have in common: refusals, drafts of records and of audit entries.
// Included by their .cc files only.

#pragma once

#include <map>
#include <string>
#include <string_view>

#include "projections/resources/rules.h"

namespace projections {

Judgement Refuse(RefusalReason reason, std::string detail, std::vector<FieldError> errors = {});
Judgement Refuse(Refusal refusal);
// `errors` are what is wrong with the references of a request.
Judgement RefuseReferences(std::vector<FieldError> errors);
Refusal NotFound(std::string_view kind, std::string_view id, RefusalReason reason);

// Empty: no version was asked for, or the resource has one of them.
std::optional<Refusal> CheckVersion(const ResourceEntry& entry, const ExpectedVersions& if_match);

engine::RecordDraft DraftOf(const ResourceState& state, engine::Position previous);
engine::RecordDraft DraftOf(const TombstoneState& tombstone, engine::Position previous);

// `what` is the verb: the action is `resource.<what>`, the target `<plural>/<id>`.
engine::AuditDraft AuditOf(std::string_view what, const ResourceEntry& entry,
                           const Registry& registry, std::string_view actor);
engine::AuditDraft AuditOf(std::string_view what, const ResourceState& state,
                           const Registry& registry, std::string_view actor);

// `status` null: no conditions were ever recorded.
std::string DocumentOf(const schemas::Resource& resource, const schemas::ResourceStatus* status,
                       const Registry& registry);

// Nothing is to be done: the resource is shown as it is.
Judgement Unchanged(const ResourceEntry& entry, const RuleContext& context);

// The refusal of a state whose record could come to exceed the limit.
std::optional<Refusal> CheckSize(const ResourceState& state);

}  // namespace projections
