#include "projections/resources/drafts.h"

#include <algorithm>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/check.h"
#include "engine/base/guard.h"
#include "projections/resources/document.h"
#include "projections/resources/facts.h"
#include "projections/statuses/facts.h"

namespace projections {
namespace {

engine::AuditDraft AuditOf(std::string_view what, std::string_view kind, std::string_view id,
                           std::string_view name, const Registry& registry) {
  const EntityDescriptor* descriptor = registry.FindKind(kind);
  engine::AuditDraft audit;
  audit.action = absl::StrFormat("resource.%s", what);
  audit.target = absl::StrFormat("%s/%s", descriptor == nullptr ? kind : descriptor->plural, id);
  audit.details["kind"] = kind;
  audit.details["name"] = name;
  return audit;
}

std::optional<Refusal> CheckBound(std::size_t bytes) {
  if (GUARD("resources.size", bytes <= engine::kMaxRecordBytes)) {
    return std::nullopt;
  }
  return Refusal{
      RefusalReason::kTooLarge,
      absl::StrFormat("spec, labels and references must have less than %d bytes together",
                      engine::kMaxRecordBytes),
      {}};
}

}  // namespace

Judgement Refuse(Refusal refusal) {
  Judgement judgement;
  judgement.refusal = std::move(refusal);
  return judgement;
}

Judgement Refuse(RefusalReason reason, std::string detail, std::vector<FieldError> errors) {
  return Refuse(Refusal{reason, std::move(detail), std::move(errors)});
}

Judgement RefuseReferences(std::vector<FieldError> errors) {
  std::string detail;
  for (const FieldError& error : errors) {
    detail += (detail.empty() ? "" : "; ") + error.message;
  }
  return Refuse(RefusalReason::kInvalidReference, std::move(detail), std::move(errors));
}

Refusal NotFound(std::string_view kind, std::string_view id, RefusalReason reason) {
  return {reason,
          absl::StrFormat("%s with id='%s' not found", kind.empty() ? "Resource" : kind, id),
          {}};
}

std::optional<Refusal> CheckVersion(const ResourceEntry& entry, const ExpectedVersions& if_match) {
  const bool matches =
      if_match.empty() || std::ranges::find(if_match, entry.position()) != if_match.end();
  if (GUARD("resources.if-match", matches)) {
    return std::nullopt;
  }
  return Refusal{RefusalReason::kVersionMismatch,
                 absl::StrFormat("%s '%s' has changed since the version that If-Match names",
                                 entry.kind(), entry.id()),
                 {}};
}

engine::RecordDraft DraftOf(const ResourceState& state, engine::Position previous) {
  return {.stream = ResourcesImage::kStream,
          .key = state.id,
          .previous = previous,
          .flags = 0,
          .payload = EncodeResource(state)};
}

engine::RecordDraft DraftOf(const TombstoneState& tombstone, engine::Position previous) {
  return {.stream = ResourcesImage::kStream,
          .key = tombstone.id,
          .previous = previous,
          .flags = engine::RecordFlag::kTombstone,
          .payload = EncodeTombstone(tombstone)};
}

engine::AuditDraft AuditOf(std::string_view what, const ResourceEntry& entry,
                           const Registry& registry, std::string_view actor) {
  engine::AuditDraft audit = AuditOf(what, entry.kind(), entry.id(), entry.name(), registry);
  audit.actor = actor;
  return audit;
}

engine::AuditDraft AuditOf(std::string_view what, const ResourceState& state,
                           const Registry& registry, std::string_view actor) {
  engine::AuditDraft audit = AuditOf(what, state.kind, state.id, state.name, registry);
  audit.actor = actor;
  audit.details["generation"] = absl::StrFormat("%d", state.generation);
  return audit;
}

std::string DocumentOf(const schemas::Resource& resource, const schemas::ResourceStatus* status,
                       const Registry& registry) {
  std::string document;
  AppendResourceDocument(resource, status, registry, document);
  return document;
}

Judgement Unchanged(const ResourceEntry& entry, const RuleContext& context) {
  const StatusEntry* status = TrackedStatuses(context.statuses, context.footprint).Find(entry.id());
  Judgement judgement;
  judgement.document =
      DocumentOf(entry.table(), status == nullptr ? nullptr : &status->table(), context.registry);
  judgement.unchanged_position = entry.position();
  judgement.unchanged_status =
      status == nullptr ? engine::Position::kBeforeFirst : status->position();
  return judgement;
}

std::optional<Refusal> CheckSize(std::string_view spec, const Labels& labels,
                                 const RequestedReferences& references) {
  std::vector<ReferenceState> stored;
  for (const auto& [type, targets] : references) {
    for (const RequestedTarget& target : targets) {
      stored.push_back({type, target.id, target.kind});
    }
  }
  return CheckBound(RecordSizeBound(spec, labels, stored));
}

std::optional<Refusal> CheckSize(const ResourceState& state) {
  return CheckBound(RecordSizeBound(state.spec, state.labels, state.references));
}

Target ParentIn(std::string_view id, std::string_view kind, const TenantScope& tenant,
                const std::vector<std::string>& above) {
  Target parent{
      .id = std::string(id), .kind = std::string(kind), .parent_id = {}, .tenant = tenant};
  if (!above.empty()) {
    parent.parent_id = above.front();
    parent.above.assign(above.begin() + 1, above.end());
  }
  return parent;
}

FoundTarget FindTarget(const Target& target, const Registry& registry, const ResourcesImage& image,
                       engine::Footprint* footprint) {
  engine::Footprint unused;
  TrackedResources resources(image, footprint == nullptr ? unused : *footprint);
  if (!target.parent_id.empty()) {
    const EntityDescriptor* descriptor = registry.FindKind(target.kind);
    ENGINE_CHECK(descriptor != nullptr);
    const FoundTarget parent =
        FindTarget(ParentIn(target.parent_id, descriptor->parent_kind, target.tenant, target.above),
                   registry, image, footprint);
    if (parent.refusal.has_value()) {
      return {nullptr, Refusal{RefusalReason::kParentNotFound, parent.refusal->detail, {}}};
    }
  }
  const ResourceEntry* entry = resources.Find(target.id);
  const bool matches = entry != nullptr && (target.kind.empty() || entry->kind() == target.kind) &&
                       (target.parent_id.empty() || entry->owner_id() == target.parent_id);
  if (!matches || !GUARD("tenant.target", target.tenant.Sees(*entry))) {
    return {nullptr, NotFound(target.kind, target.id, RefusalReason::kNotFound)};
  }
  return {entry, std::nullopt};
}

}  // namespace projections
