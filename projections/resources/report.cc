#include "projections/resources/report.h"

#include <algorithm>
#include <array>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "projections/resources/conditions.h"
#include "projections/resources/drafts.h"
#include "projections/resources/facts.h"
#include "projections/resources/finalize.h"
#include "projections/statuses/document.h"
#include "projections/statuses/keys.h"

namespace projections {
namespace {

using engine::Timestamp;
using schemas::ConditionStatus;

std::int64_t Micros(engine::Duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

ConditionStatus Said(const ReportRequest& request, std::string_view type) {
  const auto found = std::ranges::find(request.conditions, type, &ReportedConditionState::type);
  return found == request.conditions.end() ? ConditionStatus::kInvalid : found->status;
}

Refusal InvalidReport(std::string_view field, std::string detail, std::string_view constraint) {
  return {RefusalReason::kInvalidReport,
          detail,
          {{std::string(field), detail, std::string(constraint)}}};
}

std::optional<Refusal> CheckTime(Timestamp observed, Timestamp now) {
  const std::int64_t ahead = observed.micros - now.micros;
  if (!GUARD("statuses.observed-ahead", ahead <= Micros(kMaxReportAhead))) {
    return InvalidReport("observed_time", "observed_time is more than 5 minutes in the future",
                         "max");
  }
  if (!GUARD("statuses.observed-age", -ahead <= Micros(kMaxReportAge))) {
    return InvalidReport("observed_time", "observed_time is more than 30 minutes in the past",
                         "min");
  }
  return std::nullopt;
}

std::optional<Refusal> CheckMandatory(const ReportRequest& request) {
  for (const std::string_view type : {kAvailable, kApplied, kHealth}) {
    if (!GUARD("statuses.mandatory", Said(request, type) != ConditionStatus::kInvalid)) {
      return InvalidReport("conditions",
                           absl::StrFormat("missing mandatory condition '%s'", std::string(type)),
                           "required");
    }
  }
  return std::nullopt;
}

// What a report is judged against.
struct Stored {
  const ResourceEntry& resource;
  const ReportEntry* report = nullptr;  // Of the same adapter.
};

// About another generation than the report should be, or older than what is stored.
bool IsStale(const ReportRequest& request, Timestamp observed, const Stored& stored) {
  const std::int32_t generation = request.observed_generation;
  if (!GUARD("statuses.future-generation", generation <= stored.resource.table().generation())) {
    return true;
  }
  if (stored.report == nullptr) {
    return false;
  }
  const schemas::AdapterReport& last = stored.report->table();
  if (!GUARD("statuses.older-generation", generation >= last.observed_generation())) {
    return true;
  }
  return generation == last.observed_generation() &&
         !GUARD("statuses.older-report", observed.micros >= last.last_report_time());
}

// An adapter that does not know yet may say so once; except that one which is done with a
// finalizing resource is heard whatever else it says.
bool SaysNothing(const ReportRequest& request, const Stored& stored) {
  const bool is_done =
      stored.resource.is_deleting() && Said(request, kFinalized) == ConditionStatus::kTrue;
  return Said(request, kAvailable) == ConditionStatus::kUnknown && stored.report != nullptr &&
         !GUARD("statuses.unknown", is_done);
}

ReportState NewState(const ReportRequest& request, Timestamp observed, const Stored& stored) {
  ReportState state{.resource_id = std::string(stored.resource.id()),
                    .adapter = request.adapter,
                    .observed_generation = request.observed_generation,
                    .conditions = request.conditions,
                    .data = request.data,
                    .metadata = request.metadata,
                    .created_time = observed,
                    .last_report_time = observed};
  const ReportState before =
      stored.report == nullptr ? ReportState() : StateOf(stored.report->table());
  if (stored.report != nullptr) {
    state.created_time = before.created_time;
  }
  for (ReportedConditionState& condition : state.conditions) {
    const auto same = std::ranges::find_if(before.conditions, [&](const auto& old) {
      return old.type == condition.type && old.status == condition.status;
    });
    condition.last_transition_time =
        same == before.conditions.end() ? observed : same->last_transition_time;
  }
  return state;
}

std::string Shown(const schemas::AdapterReport& report) {
  std::string document;
  AppendReportDocument(report, document);
  return document;
}

// All reports about the resource, with the new one in its place.
ReportTables TablesWith(const schemas::AdapterReport& added,
                        const std::vector<const ReportEntry*>& reports) {
  ReportTables tables = {&added};
  for (const ReportEntry* report : reports) {
    if (report->adapter() != schemas::Text(added.adapter())) {
      tables.push_back(&report->table());
    }
  }
  return tables;
}

bool IsRequired(std::string_view adapter, const EntityDescriptor* kind) {
  return kind != nullptr &&
         std::ranges::find(kind->required_adapters, adapter) != kind->required_adapters.end();
}

// So that no adapter makes a resource that can never be deleted, or whose conditions take long to
// be made while all writers wait.
std::optional<Refusal> CheckRoom(const schemas::AdapterReport& added, std::size_t bytes,
                                 const std::vector<const ReportEntry*>& reports,
                                 const EntityDescriptor* kind) {
  const std::string_view adapter = schemas::Text(added.adapter());
  std::size_t others = 0;
  for (const ReportEntry* report : reports) {
    if (report->adapter() != adapter && !IsRequired(report->adapter(), kind)) {
      ++others;
      bytes += report->payload().size();
    }
  }
  const bool has_room =
      IsRequired(adapter, kind) || (others < kMaxOtherAdapters && bytes <= kMaxOtherReportBytes);
  if (!GUARD("statuses.room", has_room)) {
    return Refusal{RefusalReason::kTooLarge,
                   absl::StrFormat("adapters that the kind does not require have reported as much "
                                   "as they may: %d of them, %d bytes together",
                                   kMaxOtherAdapters, kMaxOtherReportBytes),
                   {}};
  }
  return std::nullopt;
}

// Takes the report in; it is not the one that is stored already.
Judgement Take(const ReportRequest& request, const ReportState& state, const Stored& stored,
               const std::vector<const ReportEntry*>& reports, const RuleContext& context) {
  const ResourceEntry& entry = stored.resource;
  const engine::Payload payload(EncodeReport(state));
  if (payload.size() > engine::kMaxRecordBytes) {
    return Refuse(RefusalReason::kTooLarge, absl::StrFormat("a report must have less than %d bytes",
                                                            engine::kMaxRecordBytes));
  }
  const schemas::AdapterReport& added = ReportIn(payload.view());
  if (auto refusal =
          CheckRoom(added, payload.size(), reports, context.registry.FindKind(entry.kind()))) {
    return Refuse(*std::move(refusal));
  }
  const ReportTables tables = TablesWith(added, reports);
  TrackedResources resources(context.image, context.footprint);
  const bool has_children = entry.is_deleting() && !resources.Children(entry.id()).empty();
  Judgement judgement;
  if (IsFinished(entry, ViewsOf(tables), has_children, context)) {
    judgement = Finalize(entry, request.actor, request.adapter, context);
  } else {
    TrackedStatuses(context.statuses, context.footprint).NoteChanged(entry.id());
    judgement.proposal.records.push_back({.stream = StatusesImage::kStream,
                                          .key = ReportKey(entry.id(), request.adapter),
                                          .previous = stored.report == nullptr
                                                          ? engine::Position::kBeforeFirst
                                                          : stored.report->position(),
                                          .flags = 0,
                                          .payload = std::string(payload.view())});
    const bool counts =
        Said(request, kAvailable) != ConditionStatus::kUnknown ||
        (entry.is_deleting() && Said(request, kFinalized) == ConditionStatus::kTrue);
    if (counts) {
      AddConditions({.resource = entry.table(), .has_children = has_children, .reports = tables},
                    context, judgement);
      if (judgement.refusal.has_value()) {
        return Refuse(*std::move(judgement.refusal));
      }
    }
  }
  if (!judgement.refusal.has_value()) {
    judgement.document = Shown(added);
  }
  return judgement;
}

}  // namespace

Judgement JudgeReport(const ReportRequest& request, const RuleContext& context) {
  const Timestamp observed = request.observed_time.value_or(context.now);
  if (std::optional<Refusal> refusal = CheckTime(observed, context.now)) {
    return Refuse(*std::move(refusal));
  }
  FoundTarget found =
      FindTarget(request.target, context.registry, context.image, &context.footprint);
  if (found.refusal.has_value()) {
    return Refuse(*std::move(found.refusal));
  }
  if (std::optional<Refusal> refusal = CheckVersion(*found.entry, request.if_match)) {
    return Refuse(*std::move(refusal));
  }
  TrackedStatuses statuses(context.statuses, context.footprint);
  const std::vector<const ReportEntry*> reports = statuses.Reports(found.entry->id());
  const auto same = std::ranges::find(reports, request.adapter, &ReportEntry::adapter);
  const Stored stored{*found.entry, same == reports.end() ? nullptr : *same};
  if (IsStale(request, observed, stored)) {
    return {};
  }
  if (std::optional<Refusal> refusal = CheckMandatory(request)) {
    return Refuse(*std::move(refusal));
  }
  if (SaysNothing(request, stored)) {
    return {};
  }
  if (stored.report != nullptr &&
      stored.report->table().observed_generation() == request.observed_generation &&
      stored.report->table().last_report_time() == observed.micros) {
    Judgement judgement;
    judgement.document = Shown(stored.report->table());
    return judgement;
  }
  return Take(request, NewState(request, observed, stored), stored, reports, context);
}

}  // namespace projections
