// The rule of PUT .../statuses: an adapter reports about a resource.
//
// A pure function, like the rules of projections/resources/rules.h. docs/resources.md says in prose
// which reports are taken, which are dropped without an error, and which are refused.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/clock.h"
#include "projections/resources/rules.h"
#include "projections/statuses/state.h"

namespace projections {

// How far an observed time may be from the store's clock.
inline constexpr engine::Duration kMaxReportAhead = std::chrono::minutes(5);
inline constexpr engine::Duration kMaxReportAge = std::chrono::minutes(30);

// How many adapters that the kind does not require may report about one resource, and how much
// together. Each takes a tombstone when the resource goes, and all of those have to fit one
// transaction; and rules of conditions read all that was reported while the journal is locked.
inline constexpr std::size_t kMaxOtherAdapters = 500;
inline constexpr std::size_t kMaxOtherReportBytes = std::size_t{4} << 20;

struct ReportRequest {
  Target target;
  ExpectedVersions if_match = {};
  std::string adapter = {};
  std::int32_t observed_generation = 0;
  std::optional<engine::Timestamp> observed_time = {};  // Empty: now.
  // Types are unique and not empty; when they changed is found out.
  std::vector<ReportedConditionState> conditions = {};
  std::string data = {};      // An object in canonical JSON.
  std::string metadata = {};  // Likewise, or empty.
  std::string actor = {};
};

// The document is the report as it is stored then; empty when the report is dropped: it is about
// a generation that is not there (any more), older than what is stored, or says nothing new.
//
// A report that makes a finalizing resource wait for nothing removes it, and owners that waited
// for it alone; that is audited. Other reports are not.
Judgement JudgeReport(const ReportRequest& request, const RuleContext& context);

}  // namespace projections
