#include "projections/resources/conditions.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "projections/conditions/rules.h"
#include "projections/resources/document.h"
#include "projections/resources/drafts.h"
#include "projections/resources/facts.h"
#include "projections/statuses/keys.h"

namespace projections {
namespace {

// Room for the audit entry.
constexpr std::size_t kMaxProposalBytes = engine::kMaxTransactionBytes - (std::size_t{64} << 10);

engine::RecordDraft TombstoneOf(std::string_view id, std::string_view adapter,
                                engine::Position previous) {
  return {.stream = StatusesImage::kStream,
          .key = adapter.empty() ? std::string(id) : ReportKey(id, adapter),
          .previous = previous,
          .flags = engine::RecordFlag::kTombstone,
          .payload = EncodeStatusTombstone(id, adapter)};
}

void AddTombstones(std::string_view id, const RuleContext& context, engine::Proposal& proposal) {
  TrackedStatuses statuses(context.statuses, context.footprint);
  statuses.NoteChanged(id);
  if (const StatusEntry* status = statuses.Find(id)) {
    proposal.records.push_back(TombstoneOf(id, {}, status->position()));
  }
  for (const ReportEntry* report : statuses.Reports(id)) {
    proposal.records.push_back(TombstoneOf(id, report->adapter(), report->position()));
  }
}

bool HasChildrenLeft(std::string_view id, const std::set<std::string, std::less<>>& gone,
                     const RuleContext& context) {
  TrackedResources resources(context.image, context.footprint);
  return std::ranges::any_of(resources.Children(id), [&gone](const ResourceEntry* child) {
    return !gone.contains(child->id());
  });
}

// Conditions depend on the generation: what leaves it as it is leaves them as they are.
bool ChangesGeneration(const schemas::Resource& resource, const ResourceEntry* before) {
  return before == nullptr || before->table().generation() != resource.generation();
}

ConditionStates Previous(const EntityDescriptor& descriptor, const StatusEntry* status,
                         const ResourceEntry* before) {
  if (status != nullptr) {
    return StateOf(status->table());
  }
  return before == nullptr ? ConditionStates()
                           : Unreported(descriptor.required_adapters, before->table());
}

bool HasConditions(const EntityDescriptor& descriptor) {
  return !descriptor.required_adapters.empty() || descriptor.condition_rules != nullptr;
}

bool IsReconciling(const ConditionStates& conditions) {
  const auto found = std::ranges::find(conditions, kReconciled, &ConditionState::type);
  return found != conditions.end() && found->status == schemas::ConditionStatus::kFalse;
}

// The newest conditions of a resource: the proposed ones, else those that are.
const schemas::ResourceStatus* StatusAfter(std::string_view id, const engine::Proposal& proposal,
                                           const RuleContext& context) {
  for (const engine::RecordDraft& draft : proposal.records) {
    if (draft.stream == StatusesImage::kStream && draft.key == id && draft.flags == 0) {
      return &StatusIn(draft.payload);
    }
  }
  const StatusEntry* status = TrackedStatuses(context.statuses, context.footprint).Find(id);
  return status == nullptr ? nullptr : &status->table();
}

// What the kind's own rules make of the reports. A report is not stored without it, so that its
// adapter sends it again.
std::optional<Refusal> AddMapped(const EntityDescriptor& descriptor, const ConditionsChange& change,
                                 const StatusEntry* status, const RuleContext& context,
                                 AggregationInput& input) {
  if (descriptor.condition_rules == nullptr) {
    return std::nullopt;
  }
  auto mapped = descriptor.condition_rules->Run(
      DocumentOf(change.resource, status == nullptr ? nullptr : &status->table(), context.registry),
      change.reports);
  if (!GUARD("conditions.failed", mapped.ok())) {
    const auto why = mapped.status().message();
    return Refusal{RefusalReason::kConditionFailed, std::string(why.data(), why.size()), {}};
  }
  if (mapped.ok()) {
    input.mapped = *std::move(mapped);
  }
  return std::nullopt;
}

// From the record `first` on.
std::size_t BytesOf(const engine::Proposal& proposal, std::size_t first = 0) {
  std::size_t bytes = 0;
  for (std::size_t i = first; i < proposal.records.size(); ++i) {
    bytes += engine::RowCost(proposal.records[i].key.size(), proposal.records[i].payload.size());
  }
  return bytes;
}

// REQUIRES: the proposal has records of resources only.
void AddConsequences(const RuleContext& context, Judgement& judgement) {
  engine::Proposal& proposal = judgement.proposal;
  std::set<std::string, std::less<>> gone;
  for (const engine::RecordDraft& draft : proposal.records) {
    if (draft.flags != 0) {
      gone.insert(draft.key);
    }
  }
  TrackedStatuses statuses(context.statuses, context.footprint);
  Judgement more;  // Apart, since adding to what is walked would end the walk.
  std::size_t bytes = 0;
  for (const engine::RecordDraft& draft : proposal.records) {
    // What is over the limit need not be known to its end: it will be refused.
    if (bytes > kMaxProposalBytes) {
      break;
    }
    if (draft.flags != 0) {
      const std::size_t first = more.proposal.records.size();
      AddTombstones(draft.key, context, more.proposal);
      bytes += BytesOf(more.proposal, first);
      continue;
    }
    const schemas::Resource& resource = ResourceIn(draft.payload);
    const ResourceEntry* before = context.image.Find(draft.key);
    if (!ChangesGeneration(resource, before)) {
      continue;
    }
    const bool deleting = resource.deletion() != nullptr;
    AddConditions({.resource = resource,
                   .is_new = before == nullptr,
                   .has_children = deleting && HasChildrenLeft(draft.key, gone, context),
                   .reports = TablesOf(statuses.Reports(draft.key))},
                  context, more);
  }
  std::ranges::move(more.proposal.records, std::back_inserter(proposal.records));
  judgement.reconciliations = std::move(more.reconciliations);
  judgement.refusal = std::move(more.refusal);
}

}  // namespace

ReportTables TablesOf(const std::vector<const ReportEntry*>& reports) {
  ReportTables tables;
  tables.reserve(reports.size());
  for (const ReportEntry* report : reports) {
    tables.push_back(&report->table());
  }
  return tables;
}

std::vector<AdapterView> ViewsOf(const ReportTables& reports) {
  std::vector<AdapterView> views;
  views.reserve(reports.size());
  for (const schemas::AdapterReport* report : reports) {
    views.push_back(ViewOf(*report));
  }
  return views;
}

void AddConditions(const ConditionsChange& change, const RuleContext& context,
                   Judgement& judgement) {
  const EntityDescriptor* descriptor =
      context.registry.FindKind(schemas::Text(change.resource.kind()));
  if (descriptor == nullptr) {
    return;
  }
  const std::string_view id = schemas::Text(change.resource.id());
  TrackedStatuses statuses(context.statuses, context.footprint);
  const StatusEntry* status = statuses.Find(id);
  if (!HasConditions(*descriptor) && status == nullptr) {
    return;
  }
  const ResourceEntry* before = change.is_new ? nullptr : context.image.Find(id);
  AggregationInput input{.required_adapters = descriptor->required_adapters,
                         .generation = change.resource.generation(),
                         .updated_time = {change.resource.updated_time()},
                         .deleting = change.resource.deletion() != nullptr,
                         .has_children = change.has_children,
                         .reports = ViewsOf(change.reports),
                         .previous = Previous(*descriptor, status, before)};
  if (std::optional<Refusal> refusal = AddMapped(*descriptor, change, status, context, input)) {
    judgement.refusal = std::move(refusal);
    return;
  }
  const ConditionStates next = Aggregate(input);
  if (next == input.previous && (status != nullptr || next.empty())) {
    return;
  }
  statuses.NoteChanged(id);
  judgement.proposal.records.push_back(
      {.stream = StatusesImage::kStream,
       .key = std::string(id),
       .previous = status == nullptr ? engine::Position::kBeforeFirst : status->position(),
       .flags = 0,
       .payload = EncodeStatus(id, next)});
  if (IsReconciling(next) && !IsReconciling(input.previous)) {
    judgement.reconciliations.push_back({descriptor->kind, input.deleting});
  }
}

Judgement Conclude(Judgement judgement, std::string_view shown, const RuleContext& context) {
  AddConsequences(context, judgement);
  if (judgement.refusal.has_value()) {
    return Refuse(*std::move(judgement.refusal));
  }
  if (BytesOf(judgement.proposal) > kMaxProposalBytes) {
    return Refuse(RefusalReason::kTooLarge,
                  "this changes more than one transaction can hold: do it in parts");
  }
  if (!shown.empty()) {
    const schemas::Resource& resource = ResourceIn(shown);
    judgement.document =
        DocumentOf(resource, StatusAfter(schemas::Text(resource.id()), judgement.proposal, context),
                   context.registry);
  }
  return judgement;
}

}  // namespace projections
