#include "projections/statuses/image.h"

#include "engine/base/bytes.h"
#include "engine/base/status_macros.h"

namespace projections {
namespace {

template <typename Tree>
absl::Status SaveTree(const Tree& tree, const engine::StatePartSink& sink) {
  std::string part;
  for (const auto& owned : tree) {
    part.clear();
    engine::AppendU64(engine::Raw(owned.entry->position()), part);
    part += owned.entry->payload().view();
    RETURN_IF_ERROR(sink(part));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status StatusesImage::Save(const engine::StatePartSink& sink) const {
  RETURN_IF_ERROR(SaveTree(trees_.statuses, sink));
  return SaveTree(trees_.reports, sink);
}

const StatusEntry* StatusesImage::Find(std::string_view resource_id) const {
  const OwnedStatus* found = trees_.statuses.Find(IdProbe(resource_id));
  return found == nullptr ? nullptr : found->entry.get();
}

const ReportEntry* StatusesImage::FindReport(std::string_view resource_id,
                                             std::string_view adapter) const {
  const OwnedReport* found = trees_.reports.Find(ReportProbe(resource_id, adapter));
  return found == nullptr ? nullptr : found->entry.get();
}

std::vector<const ReportEntry*> StatusesImage::Reports(std::string_view resource_id) const {
  const IdProbe probe(resource_id);
  std::vector<const ReportEntry*> reports;
  const auto behind = trees_.reports.UpperBound(probe);
  for (auto at = trees_.reports.LowerBound(probe); at != behind; ++at) {
    reports.push_back(at->entry.get());
  }
  return reports;
}

std::vector<const StatusEntry*> StatusesImage::AllConditions() const {
  std::vector<const StatusEntry*> all;
  all.reserve(size());
  for (const OwnedStatus& owned : trees_.statuses) {
    all.push_back(owned.entry.get());
  }
  return all;
}

std::vector<const ReportEntry*> StatusesImage::AllReports() const {
  std::vector<const ReportEntry*> all;
  all.reserve(reports());
  for (const OwnedReport& owned : trees_.reports) {
    all.push_back(owned.entry.get());
  }
  return all;
}

ConditionRange StatusesImage::WithCondition(std::string_view type,
                                            schemas::ConditionStatus status) const {
  const ConditionProbe probe{type, status};
  return {trees_.conditions.LowerBound(probe), trees_.conditions.UpperBound(probe)};
}

ConditionRange StatusesImage::WithCondition(std::string_view type, schemas::ConditionStatus status,
                                            engine::Timestamp before) const {
  const ConditionProbe probe{type, status};
  return {trees_.conditions.LowerBound(probe),
          trees_.conditions.LowerBound(ConditionTimeProbe{probe, before.micros})};
}

}  // namespace projections
