// The orders in which the projection keeps conditions and reports. Included by image.h only.
//
// A probe is a prefix of the key; ids are compared as in projections/resources/indexes.h.

#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "projections/resources/indexes.h"
#include "projections/statuses/entry.h"

namespace projections {

// Owns the entry.
struct OwnedStatus {
  std::string_view id() const { return entry->resource_id(); }

  std::uint64_t hint = 0;
  std::shared_ptr<const StatusEntry> entry;
};
struct ByStatusId {
  bool operator()(const OwnedStatus& a, const OwnedStatus& b) const { return CompareIds(a, b) < 0; }
  bool operator()(const OwnedStatus& a, const IdProbe& b) const { return CompareIds(a, b) < 0; }
  bool operator()(const IdProbe& a, const OwnedStatus& b) const { return CompareIds(a, b) < 0; }
};

// Owns the entry. By resource, then adapter. An IdProbe stands for all reports about a resource.
struct OwnedReport {
  std::string_view id() const { return entry->resource_id(); }
  std::string_view adapter() const { return entry->adapter(); }

  std::uint64_t hint = 0;
  std::shared_ptr<const ReportEntry> entry;
};
class ReportProbe {
 public:
  ReportProbe(std::string_view id, std::string_view adapter)
      : hint(IdProbe::HintOf(id)), id_(id), adapter_(adapter) {}
  std::string_view id() const { return id_; }
  std::string_view adapter() const { return adapter_; }

  const std::uint64_t hint;

 private:
  std::string_view id_;
  std::string_view adapter_;
};
template <typename A, typename B>
bool ReportBefore(const A& a, const B& b) {
  const std::strong_ordering ids = CompareIds(a, b);
  return ids != 0 ? ids < 0 : a.adapter() < b.adapter();
}
struct ByReport {
  bool operator()(const OwnedReport& a, const OwnedReport& b) const { return ReportBefore(a, b); }
  bool operator()(const OwnedReport& a, const ReportProbe& b) const { return ReportBefore(a, b); }
  bool operator()(const ReportProbe& a, const OwnedReport& b) const { return ReportBefore(a, b); }
  bool operator()(const OwnedReport& a, const IdProbe& b) const { return CompareIds(a, b) < 0; }
  bool operator()(const IdProbe& a, const OwnedReport& b) const { return CompareIds(a, b) < 0; }
};

// One condition of a resource: by type, status, when it was last updated, then resource.
struct ConditionKey {
  const std::string* type = nullptr;  // Conditions of one type share its text.
  schemas::ConditionStatus status = schemas::ConditionStatus::kInvalid;
  std::int64_t updated_micros = 0;
  const StatusEntry* entry = nullptr;
};
struct ConditionProbe {
  std::string_view type;
  schemas::ConditionStatus status;
};
// The place before the first condition that was updated at that time or later.
struct ConditionTimeProbe {
  ConditionProbe condition;
  std::int64_t updated_micros;
};
struct ByCondition {
  bool operator()(const ConditionKey& a, const ConditionKey& b) const;
  bool operator()(const ConditionKey& a, const ConditionProbe& b) const;
  bool operator()(const ConditionProbe& a, const ConditionKey& b) const;
  bool operator()(const ConditionKey& a, const ConditionTimeProbe& b) const;
  bool operator()(const ConditionTimeProbe& a, const ConditionKey& b) const;
};

}  // namespace projections
