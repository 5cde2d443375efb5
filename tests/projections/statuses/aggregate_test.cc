// Every row of the rules of Reconciled and LastKnownReconciled (docs/resources.md).

#include "projections/statuses/aggregate.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "projections/registry.h"

namespace projections {
namespace {

using engine::Timestamp;
using schemas::ConditionStatus;

constexpr ConditionStatus kTrue = ConditionStatus::kTrue;
constexpr ConditionStatus kFalse = ConditionStatus::kFalse;
constexpr ConditionStatus kUnknown = ConditionStatus::kUnknown;
constexpr std::int64_t kChanged = 1000;  // updated_time of the resource.

const std::vector<std::string> kTwo = {"dns", "my-adapter"};
const std::vector<std::string> kNone;

AdapterView Said(std::string_view adapter, std::int32_t generation, ConditionStatus available,
                 std::int64_t at, ConditionStatus finalized = ConditionStatus::kInvalid) {
  return {.adapter = adapter,
          .generation = generation,
          .observed = {at},
          .available = available,
          .finalized = finalized,
          .reason = "Why",
          .message = "because"};
}

ConditionState Was(std::string_view type, ConditionStatus status, std::int32_t generation,
                   std::int64_t updated) {
  return {.type = std::string(type),
          .status = status,
          .reason = "Before",
          .message = "before",
          .observed_generation = generation,
          .created_time = {1},
          .last_updated_time = {updated},
          .last_transition_time = {2}};
}

AggregationInput Input(std::vector<AdapterView> reports, std::int32_t generation = 2,
                       ConditionStates previous = {}) {
  return {.required_adapters = kTwo,
          .generation = generation,
          .updated_time = {kChanged},
          .reports = std::move(reports),
          .previous = std::move(previous)};
}

// A condition without its message and created_time, as a row of a table.
struct Row {
  ConditionStatus status;
  std::string reason;
  std::int32_t generation;
  std::int64_t updated;
  std::int64_t transition;
  friend bool operator==(const Row&, const Row&) = default;
};
void PrintTo(const Row& row, std::ostream* out) {
  *out << StatusName(row.status) << " " << row.reason << " generation " << row.generation
       << " updated " << row.updated << " since " << row.transition;
}
Row Of(const AggregationInput& input, std::string_view type) {
  const ConditionStates conditions = Aggregate(input);
  const auto found = std::ranges::find(conditions, type, &ConditionState::type);
  if (found == conditions.end()) {
    return {};
  }
  return {found->status, found->reason, found->observed_generation, found->last_updated_time.micros,
          found->last_transition_time.micros};
}
Row ReconciledOf(const AggregationInput& input) {
  return Of(input, kReconciled);
}
Row LastKnownOf(const AggregationInput& input) {
  return Of(input, kLastKnownReconciled);
}

TEST(ReconciledTest, ANewResourceWaitsForItsAdaptersSinceItWasMade) {
  EXPECT_EQ(ReconciledOf(Input({}, 1)),
            (Row{kFalse, "ReconciledMissingAdapters", 1, kChanged, kChanged}));
}

TEST(ReconciledTest, IsTrueWhenEveryAdapterIsAvailableAtTheCurrentGeneration) {
  EXPECT_EQ(ReconciledOf(Input({Said("dns", 2, kTrue, 20), Said("my-adapter", 2, kTrue, 10)})),
            (Row{kTrue, "ReconciledAll", 2, 10, 10}));
}

TEST(ReconciledTest, IsFalseWhileAnAdapterIsMissingOldOrNotAvailable) {
  const auto reason = "ReconciledMissingAdapters";
  for (const auto& [other, updated] : std::vector<std::pair<AdapterView, std::int64_t>>{
           {Said("my-adapter", 1, kTrue, 10), 20},     // Old.
           {Said("my-adapter", 3, kTrue, 10), 20},     // Of a generation that is not there yet.
           {Said("my-adapter", 2, kUnknown, 10), 20},  // Unknown counts as missing.
           {Said("my-adapter", 2, kFalse, 10), 10},
           {Said("unlisted", 2, kTrue, 10), 20}}) {
    EXPECT_EQ(ReconciledOf(Input({Said("dns", 2, kTrue, 20), other})),
              (Row{kFalse, reason, 2, updated, updated}));
  }
}

TEST(ReconciledTest, AnUnlistedAdapterChangesNothing) {
  const AggregationInput input = Input({Said("dns", 2, kTrue, 20)});
  AggregationInput with = input;
  with.reports.push_back(Said("unlisted", 2, kFalse, 1));
  EXPECT_EQ(Aggregate(with), Aggregate(input));
}

TEST(ReconciledTest, OfADeletingResourceCountsWhoIsFinalized) {
  AggregationInput input =
      Input({Said("dns", 2, kFalse, 20, kTrue), Said("my-adapter", 2, kUnknown, 10, kTrue)});
  input.deleting = true;
  EXPECT_EQ(ReconciledOf(input), (Row{kTrue, "ReconciledAll", 2, 10, 10}));
  input.has_children = true;
  EXPECT_EQ(ReconciledOf(input), (Row{kFalse, "ReconciledWaitingForChildren", 2, 10, 10}));
  input.has_children = false;
  for (const AdapterView& other :
       {Said("my-adapter", 1, kTrue, 10, kTrue), Said("my-adapter", 2, kTrue, 10, kFalse),
        Said("my-adapter", 2, kTrue, 10, kUnknown), Said("my-adapter", 2, kTrue, 10)}) {
    input.reports[1] = other;
    EXPECT_EQ(ReconciledOf(input).status, kFalse);
    EXPECT_EQ(ReconciledOf(input).reason, "ReconciledMissingAdapters");
  }
}

TEST(ReconciledTest, FinalizedOfAnActiveResourceIsIgnored) {
  EXPECT_EQ(ReconciledOf(
                Input({Said("dns", 2, kFalse, 20, kTrue), Said("my-adapter", 2, kTrue, 10, kTrue)}))
                .status,
            kFalse);
}

TEST(ReconciledTest, HasItsStatusSinceItChanged) {
  const std::vector<AdapterView> all = {Said("dns", 2, kTrue, 20),
                                        Said("my-adapter", 2, kTrue, 10)};
  const std::vector<AdapterView> some = {Said("dns", 2, kTrue, 20),
                                         Said("my-adapter", 2, kFalse, 10)};
  const auto since = [](std::vector<AdapterView> reports, ConditionStatus before,
                        std::int32_t generation) {
    return ReconciledOf(Input(std::move(reports), 2, {Was(kReconciled, before, generation, 5)}))
        .transition;
  };
  EXPECT_EQ(since(all, kTrue, 2), 2);          // As before.
  EXPECT_EQ(since(some, kFalse, 1), 2);        // As before.
  EXPECT_EQ(since(all, kFalse, 2), 10);        // Since the first of the reports.
  EXPECT_EQ(since(some, kTrue, 2), 10);        // Taken back by a report.
  EXPECT_EQ(since(some, kTrue, 1), kChanged);  // Taken back by a change of the resource.
  EXPECT_EQ(since({}, kTrue, 1), kChanged);
}

TEST(LastKnownReconciledTest, ANewResourceHasNone) {
  EXPECT_EQ(LastKnownOf(Input({}, 1)),
            (Row{kFalse, "AdaptersMissingReports", 1, kChanged, kChanged}));
}

TEST(LastKnownReconciledTest, AllAvailableAtOneGeneration) {
  const std::vector<AdapterView> reports = {Said("dns", 1, kTrue, 20),
                                            Said("my-adapter", 1, kTrue, 10)};
  EXPECT_EQ(LastKnownOf(Input(reports)), (Row{kTrue, "AllAdaptersReconciled", 1, 10, 10}));
  EXPECT_EQ(LastKnownOf(Input(reports, 2, {Was(kLastKnownReconciled, kFalse, 1, 5)})),
            (Row{kTrue, "AllAdaptersReconciled", 1, 10, 10}));
  EXPECT_EQ(LastKnownOf(Input(reports, 2, {Was(kLastKnownReconciled, kTrue, 1, 5)})),
            (Row{kTrue, "AllAdaptersReconciled", 1, 10, 2}));
}

TEST(LastKnownReconciledTest, AllAvailableAtSeveralGenerationsStaysWhatItWas) {
  const std::vector<AdapterView> reports = {Said("dns", 2, kTrue, 20),
                                            Said("my-adapter", 1, kTrue, 10)};
  EXPECT_EQ(LastKnownOf(Input(reports, 2, {Was(kLastKnownReconciled, kTrue, 1, 5)})),
            (Row{kTrue, "AllAdaptersReconciled", 1, 5, 2}));
  EXPECT_EQ(LastKnownOf(Input(reports, 2, {Was(kLastKnownReconciled, kFalse, 1, 5)})),
            (Row{kFalse, "AdaptersNotAtSameGeneration", 2, 5, 2}));
  EXPECT_EQ(LastKnownOf(Input(reports)),
            (Row{kFalse, "AdaptersNotAtSameGeneration", 2, kChanged, kChanged}));
}

TEST(LastKnownReconciledTest, OneNotAvailable) {
  const std::vector<AdapterView> reports = {Said("dns", 2, kFalse, 20),
                                            Said("my-adapter", 1, kTrue, 10)};
  // Never reconciled.
  EXPECT_EQ(LastKnownOf(Input(reports)), (Row{kFalse, "AdapterReportedNotAvailable", 2, 20, 20}));
  EXPECT_EQ(LastKnownOf(Input(reports, 2, {Was(kLastKnownReconciled, kFalse, 1, 5)})),
            (Row{kFalse, "AdapterReportedNotAvailable", 2, 20, 2}));
  // Reconciled at 1: nobody took that back.
  EXPECT_EQ(LastKnownOf(Input(reports, 2, {Was(kLastKnownReconciled, kTrue, 1, 5)})),
            (Row{kTrue, "AllAdaptersReconciled", 1, 5, 2}));
  // Reconciled at 2: taken back.
  EXPECT_EQ(LastKnownOf(Input(reports, 2, {Was(kLastKnownReconciled, kTrue, 2, 5)})),
            (Row{kFalse, "AdapterReportedNotAvailable", 2, 20, 20}));
}

TEST(LastKnownReconciledTest, ANewerFailureOfAllKeepsWhatWasReconciled) {
  EXPECT_EQ(LastKnownOf(Input({Said("dns", 2, kFalse, 20), Said("my-adapter", 2, kTrue, 10)}, 2,
                              {Was(kLastKnownReconciled, kTrue, 1, 5)})),
            (Row{kTrue, "AllAdaptersReconciled", 1, 5, 2}));
}

TEST(LastKnownReconciledTest, AnOlderFailureIsNotShownAtTheNewestGeneration) {
  // The newest generation, 2, has no failure: the time stays.
  EXPECT_EQ(LastKnownOf(Input({Said("dns", 1, kFalse, 20), Said("my-adapter", 2, kTrue, 10)}, 2,
                              {Was(kLastKnownReconciled, kFalse, 1, 5)})),
            (Row{kFalse, "AdapterReportedNotAvailable", 2, 5, 2}));
}

TEST(LastKnownReconciledTest, AMissingReportTakesItBack) {
  EXPECT_EQ(
      LastKnownOf(Input({Said("dns", 2, kTrue, 20)}, 2, {Was(kLastKnownReconciled, kTrue, 1, 5)})),
      (Row{kFalse, "AdaptersMissingReports", 2, 5, 5}));
  EXPECT_EQ(LastKnownOf(Input({}, 2, {Was(kLastKnownReconciled, kTrue, 1, 5)})),
            (Row{kFalse, "AdaptersMissingReports", 1, 5, 5}));
}

TEST(AggregateTest, ConditionsAreInTheirOrderAndKeepWhenTheyWereCreated) {
  AggregationInput input =
      Input({Said("my-adapter", 1, kFalse, 10), Said("dns", 2, kTrue, 20)}, 2,
            {Was(kReconciled, kFalse, 1, 5), Was("DnsSuccessful", kFalse, 1, 5)});
  input.mapped = {{"QuotaValid", kTrue, "Enough", "plenty"}, {"PolicyValid", kFalse, "", ""}};
  const ConditionStates conditions = Aggregate(input);
  ASSERT_EQ(conditions.size(), 6U);
  EXPECT_EQ(conditions[0].type, kReconciled);
  EXPECT_EQ(conditions[0].created_time, Timestamp{1});
  EXPECT_EQ(conditions[1].type, kLastKnownReconciled);
  EXPECT_EQ(conditions[1].created_time, Timestamp{kChanged});
  EXPECT_EQ(conditions[2],
            (ConditionState{"DnsSuccessful", kTrue, "Why", "because", 2, {1}, {20}, {20}}));
  EXPECT_EQ(
      conditions[3],
      (ConditionState{"MyAdapterSuccessful", kFalse, "Why", "because", 1, {kChanged}, {10}, {10}}));
  EXPECT_EQ(conditions[4].type, "PolicyValid");
  EXPECT_EQ(conditions[5],
            (ConditionState{
                "QuotaValid", kTrue, "Enough", "plenty", 2, {kChanged}, {kChanged}, {kChanged}}));
}

// Nothing could ever make Reconciled True.
TEST(AggregateTest, OfNoRequiredAdapterThereAreTheMappedOnesOnly) {
  AggregationInput input =
      Input({Said("dns", 2, kTrue, 20)}, 2, {Was(kLastKnownReconciled, kFalse, 7, 5)});
  input.required_adapters = kNone;
  EXPECT_EQ(Aggregate(input), ConditionStates());
  input.mapped = {{"QuotaValid", kTrue, "Enough", "plenty"}};
  const ConditionStates conditions = Aggregate(input);
  ASSERT_EQ(conditions.size(), 1U);
  EXPECT_EQ(conditions[0].type, "QuotaValid");
}

TEST(AggregateTest, AnAdapterThatIsDoneTakesBackNothingByNotKnowing) {
  AggregationInput input =
      Input({Said("dns", 2, kFalse, 20, kTrue), Said("my-adapter", 2, kUnknown, 30, kTrue)}, 2,
            {Was(kLastKnownReconciled, kTrue, 1, 5), Was("MyAdapterSuccessful", kTrue, 1, 5)});
  input.deleting = true;
  EXPECT_EQ(Of(input, "MyAdapterSuccessful"), (Row{kTrue, "Before", 1, 5, 2}));
  EXPECT_EQ(LastKnownOf(input), (Row{kTrue, "AllAdaptersReconciled", 1, 5, 2}));
  EXPECT_EQ(ReconciledOf(input), (Row{kTrue, "ReconciledAll", 2, 20, 20}));
  // Not so of one that is not done, or that never said more.
  input.reports[1].finalized = kFalse;
  EXPECT_EQ(Of(input, "MyAdapterSuccessful"), Row{});
  input.reports[1].finalized = kTrue;
  input.previous.pop_back();
  EXPECT_EQ(Of(input, "MyAdapterSuccessful"), Row{});
  EXPECT_EQ(LastKnownOf(input).reason, "AdaptersMissingReports");
}

// A condition of every one at the limits of its texts is one record.
TEST(AggregateTest, WhatAdaptersSayIsCutSoThatAllOfItFits) {
  std::vector<std::string> names;
  const std::string text(std::size_t{100} << 10, 'x');
  for (int i = 0; i < 64; ++i) {
    names.push_back(std::to_string(i) + std::string(253, 'a'));
  }
  AggregationInput input = Input({}, 2);
  input.required_adapters = names;
  for (const std::string& name : names) {
    input.reports.push_back(Said(name, 2, kFalse, 10));
    input.reports.back().reason = text;
    input.reports.back().message = text;
    input.mapped.push_back(
        {name.substr(0, 100), kTrue, std::string(256, 'r'), std::string(2048, 'm')});
  }
  const ConditionStates conditions = Aggregate(input);
  ASSERT_EQ(conditions.size(), 130U);
  EXPECT_EQ(conditions[2].reason.size(), kMaxCopiedReason);
  EXPECT_EQ(conditions[2].message.size(), kMaxCopiedMessage);
  EXPECT_LT(EncodeStatus(std::string(36, 'i'), conditions).size(), std::size_t{1000} << 10);
}

TEST(CutTextTest, LeavesNoHalfOfACharacter) {
  EXPECT_EQ(CutText("abc", 3), "abc");
  EXPECT_EQ(CutText("abcd", 3), "abc");
  EXPECT_EQ(CutText("ab\u00e9d", 3), "ab");
  EXPECT_EQ(CutText("ab\u00e9d", 4), "ab\u00e9");
  EXPECT_EQ(CutText("\u00e9", 1), "");
}

TEST(AggregateTest, TheSameReportsGiveTheSameConditions) {
  AggregationInput input = Input({Said("dns", 2, kTrue, 20), Said("my-adapter", 2, kFalse, 10)});
  const ConditionStates once = Aggregate(input);
  input.previous = once;
  EXPECT_EQ(Aggregate(input), once);
}

TEST(AggregateTest, NamesOfAdaptersBecomeTypes) {
  EXPECT_EQ(AdapterConditionType("validation"), "ValidationSuccessful");
  EXPECT_EQ(AdapterConditionType("my-adapter"), "MyAdapterSuccessful");
  EXPECT_EQ(AdapterConditionType("a--2b-C"), "A2bCSuccessful");
}

TEST(AllFinalizedTest, NeedsEveryRequiredAdapterAtTheGeneration) {
  const std::vector<AdapterView> all = {Said("dns", 2, kFalse, 1, kTrue),
                                        Said("my-adapter", 2, kUnknown, 1, kTrue)};
  EXPECT_TRUE(AllFinalized(kTwo, 2, all));
  EXPECT_FALSE(AllFinalized(kTwo, 3, all));
  EXPECT_FALSE(AllFinalized(kTwo, 2, std::vector{all[0]}));
  EXPECT_FALSE(AllFinalized(kTwo, 2, std::vector{all[0], Said("my-adapter", 2, kTrue, 1, kFalse)}));
  EXPECT_TRUE(AllFinalized(kNone, 2, {}));
}

}  // namespace
}  // namespace projections
