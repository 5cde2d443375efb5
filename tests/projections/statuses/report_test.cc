// Which reports are taken, dropped and refused, in which order that is judged, and what follows.

#include "projections/resources/report.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "engine/footprint.h"
#include "tests/projections/statuses/reports.h"

namespace projections {
namespace {

using schemas::ConditionStatus;
using testing::HasSubstr;

constexpr ConditionStatus kFalse = ConditionStatus::kFalse;
constexpr ConditionStatus kUnknown = ConditionStatus::kUnknown;
constexpr std::int64_t kMinute = 60'000'000;

// Nothing is written, and the answer is empty.
bool IsDropped(const Judgement& judgement) {
  return !judgement.refusal.has_value() && judgement.proposal.records.empty() &&
         judgement.document.empty();
}

class ReportTest : public testing::Test {
 protected:
  std::vector<std::string> Adapters(std::string_view id) const {
    std::vector<std::string> adapters;
    for (const ReportEntry* report : store_.statuses()->Reports(id)) {
      adapters.emplace_back(report->adapter());
    }
    return adapters;
  }
  void ReportAll(std::string_view id, std::int32_t generation) {
    for (const char* adapter : {"validation", "dns", "pullsecret", "hypershift"}) {
      store_.Do(Report(store_, id, adapter, generation));
    }
  }

  TestStore store_;
  const std::string cluster_ = store_.Add("Cluster", "prod");
};

TEST_F(ReportTest, IsStoredAndShown) {
  ReportRequest report = Report(store_, cluster_, "dns", 1, kFalse);
  report.metadata = R"({"attempt":1})";
  const Judgement judgement = store_.Do(report);
  EXPECT_FALSE(judgement.refusal.has_value());
  EXPECT_FALSE(judgement.proposal.audit.has_value());
  EXPECT_EQ(judgement.document.substr(0, judgement.document.find("\"created_time\"")),
            R"({"adapter":"dns","observed_generation":1,"conditions":[{"type":"Available",)"
            R"("status":"False","reason":"Why","message":"because",)"
            R"("last_transition_time":"2026-05-28T20:26:40.000001Z"},{"type":"Applied",)"
            R"("status":"True","reason":"Why","message":"because",)"
            R"("last_transition_time":"2026-05-28T20:26:40.000001Z"},{"type":"Health",)"
            R"("status":"True","reason":"Why","message":"because",)"
            R"("last_transition_time":"2026-05-28T20:26:40.000001Z"}],"data":{},)"
            R"("metadata":{"attempt":1},)");
  EXPECT_EQ(Adapters(cluster_), std::vector<std::string>{"dns"});
  EXPECT_EQ(Shown(store_, cluster_, "DnsSuccessful"), "False@1");
}

TEST_F(ReportTest, OfNoResourceIsRefused) {
  EXPECT_EQ(ReasonOf(store_.Judge(Report(store_, "nothing", "dns", 1))), RefusalReason::kNotFound);
  ReportRequest report = Report(store_, cluster_, "dns", 1);
  report.target.kind = "Channel";
  EXPECT_EQ(ReasonOf(store_.Judge(report)), RefusalReason::kNotFound);
}

TEST_F(ReportTest, AboutAnotherVersionThanExpectedIsRefusedBeforeItIsDropped) {
  const auto seen = [this] { return store_.image()->Find(cluster_)->position(); };
  ReportRequest report = Report(store_, cluster_, "dns", 9);  // Would be dropped.
  report.if_match = {engine::Position::kBeforeFirst};
  EXPECT_EQ(ReasonOf(store_.Judge(report)), RefusalReason::kVersionMismatch);
  report.if_match = {seen()};
  EXPECT_TRUE(IsDropped(store_.Judge(report)));
  report = Report(store_, cluster_, "dns", 1);
  report.if_match = {seen()};
  store_.Do(report);
  report.adapter = "validation";
  store_.Do(report);
  EXPECT_EQ(Adapters(cluster_), (std::vector<std::string>{"dns", "validation"}));
}

TEST_F(ReportTest, KeepsWhenAStatusChangedAndWhenItFirstReported) {
  const engine::Timestamp first = store_.now();
  store_.Do(Report(store_, cluster_, "dns", 1));
  store_.Pass(kMinute);
  const engine::Timestamp second = store_.now();
  store_.Do(Report(store_, cluster_, "dns", 1, kFalse));
  const ReportState state = StateOf(store_.statuses()->FindReport(cluster_, "dns")->table());
  EXPECT_EQ(state.created_time, first);
  EXPECT_EQ(state.last_report_time, second);
  EXPECT_EQ(state.conditions[0].last_transition_time, second);
  EXPECT_EQ(state.conditions[1].last_transition_time, first);
}

TEST_F(ReportTest, WithoutATimeIsOfNow) {
  ReportRequest report = Report(store_, cluster_, "dns", 1);
  report.observed_time.reset();
  const engine::Timestamp now = store_.now();
  store_.Do(report);
  EXPECT_EQ(store_.statuses()->FindReport(cluster_, "dns")->table().last_report_time(), now.micros);
}

TEST_F(ReportTest, FarAheadIsRefused) {
  ReportRequest report = Report(store_, cluster_, "dns", 1);
  report.observed_time->micros += 5 * kMinute;
  EXPECT_FALSE(store_.Judge(report).refusal.has_value());
  report.observed_time->micros += 1;
  EXPECT_EQ(ReasonOf(store_.Judge(report)), RefusalReason::kInvalidReport);
}

TEST_F(ReportTest, LongAgoIsRefused) {
  ReportRequest report = Report(store_, cluster_, "dns", 1);
  report.observed_time->micros -= 30 * kMinute;
  EXPECT_FALSE(store_.Judge(report).refusal.has_value());
  report.observed_time->micros -= 1;
  EXPECT_EQ(ReasonOf(store_.Judge(report)), RefusalReason::kInvalidReport);
  // What is wrong with the body comes first.
  report.target.id = "nothing";
  EXPECT_EQ(ReasonOf(store_.Judge(report)), RefusalReason::kInvalidReport);
}

TEST_F(ReportTest, OfAGenerationThatIsNotThereIsDropped) {
  EXPECT_TRUE(IsDropped(store_.Do(Report(store_, cluster_, "dns", 2))));
  EXPECT_TRUE(Adapters(cluster_).empty());
}

TEST_F(ReportTest, OfAnOlderGenerationThanTheStoredOneIsDropped) {
  store_.PatchSpec(cluster_, R"({"a":1})");
  store_.Do(Report(store_, cluster_, "dns", 2));
  EXPECT_TRUE(IsDropped(store_.Do(Report(store_, cluster_, "dns", 1))));
  // Another adapter may still be there.
  EXPECT_FALSE(IsDropped(store_.Do(Report(store_, cluster_, "validation", 1))));
}

TEST_F(ReportTest, OlderThanTheStoredOneIsDropped) {
  store_.Do(Report(store_, cluster_, "dns", 1));
  ReportRequest late = Report(store_, cluster_, "dns", 1, kFalse);
  late.observed_time->micros -= 2;
  EXPECT_TRUE(IsDropped(store_.Do(late)));
}

TEST_F(ReportTest, OfANewerGenerationCountsWhateverItsTime) {
  store_.Do(Report(store_, cluster_, "dns", 1));
  store_.PatchSpec(cluster_, R"({"a":1})");
  ReportRequest early = Report(store_, cluster_, "dns", 2, kFalse);
  early.observed_time->micros -= kMinute;
  EXPECT_FALSE(IsDropped(store_.Do(early)));
  EXPECT_EQ(Shown(store_, cluster_, "DnsSuccessful"), "False@2");
}

TEST_F(ReportTest, OfTheSameTimeIsAnsweredWithTheStoredOne) {
  const ReportRequest first = Report(store_, cluster_, "dns", 1);
  const std::string stored = store_.Do(first).document;
  ReportRequest second = first;
  second.conditions[0].status = kFalse;
  const Judgement judgement = store_.Do(second);
  EXPECT_TRUE(judgement.proposal.records.empty());
  EXPECT_EQ(judgement.document, stored);
}

TEST_F(ReportTest, WithoutAMandatoryConditionIsRefused) {
  for (std::size_t missing = 0; missing < 3; ++missing) {
    ReportRequest report = Report(store_, cluster_, "dns", 1);
    report.conditions[missing].type += "2";
    const Judgement judgement = store_.Judge(report);
    EXPECT_EQ(ReasonOf(judgement), RefusalReason::kInvalidReport);
    EXPECT_THAT(judgement.refusal->detail, HasSubstr("missing mandatory condition"));
  }
}

// Otherwise all the tombstones of its reports would not fit the transaction that deletes it.
TEST_F(ReportTest, OfOneAdapterTooManyIsRefused) {
  const auto name = [](std::size_t i) { return std::string(250, 'a') + std::to_string(i); };
  for (std::size_t i = 0; i < kMaxOtherAdapters; ++i) {
    ASSERT_FALSE(store_.Do(Report(store_, cluster_, name(i), 1)).refusal.has_value());
  }
  EXPECT_EQ(ReasonOf(store_.Judge(Report(store_, cluster_, "one-more", 1))),
            RefusalReason::kTooLarge);
  EXPECT_FALSE(store_.Do(Report(store_, cluster_, name(7), 1)).refusal.has_value());
  EXPECT_FALSE(store_.Do(Report(store_, cluster_, "dns", 1)).refusal.has_value());
  EXPECT_FALSE(store_.Delete(cluster_).refusal.has_value());
  EXPECT_FALSE(store_.ForceDelete(cluster_).refusal.has_value());
  EXPECT_EQ(store_.Find(cluster_), nullptr);
}

TEST_F(ReportTest, OfMoreThanOtherAdaptersMaySayTogetherIsRefused) {
  const auto large = [this](const std::string& adapter) {
    ReportRequest report = Report(store_, cluster_, adapter, 1);
    report.data = R"({"a":")" + std::string(1'000'000, 'x') + "\"}";
    return report;
  };
  for (const char* adapter : {"a", "b", "c", "d", "dns", "validation"}) {
    ASSERT_FALSE(store_.Do(large(adapter)).refusal.has_value()) << adapter;
  }
  EXPECT_EQ(ReasonOf(store_.Judge(large("e"))), RefusalReason::kTooLarge);
  EXPECT_FALSE(store_.Do(large("a")).refusal.has_value());
  EXPECT_FALSE(store_.Do(large("hypershift")).refusal.has_value());
}

TEST_F(ReportTest, ThatIsDroppedAnywayNeedNotBeComplete) {
  ReportRequest report = Report(store_, cluster_, "dns", 9);
  report.conditions.clear();
  EXPECT_TRUE(IsDropped(store_.Judge(report)));
}

TEST_F(ReportTest, ThatDoesNotKnowYetIsStoredOnce) {
  const std::string before = Shown(store_, cluster_, kReconciled);
  const Judgement first = store_.Do(Report(store_, cluster_, "dns", 1, kUnknown));
  EXPECT_FALSE(first.document.empty());
  EXPECT_EQ(first.proposal.records.size(), 1U);  // Its conditions are as they were.
  EXPECT_EQ(Adapters(cluster_).size(), 1U);
  EXPECT_TRUE(IsDropped(store_.Do(Report(store_, cluster_, "dns", 1, kUnknown))));
  EXPECT_EQ(Shown(store_, cluster_, kReconciled), before);
  EXPECT_EQ(Shown(store_, cluster_, "DnsSuccessful"), "");
}

TEST_F(ReportTest, OfAllRequiredAdaptersReconciles) {
  EXPECT_EQ(Shown(store_, cluster_, kReconciled), "False@1");
  EXPECT_EQ(Shown(store_, cluster_, kLastKnownReconciled), "False@1");
  ReportAll(cluster_, 1);
  EXPECT_EQ(Shown(store_, cluster_, kReconciled), "True@1");
  EXPECT_EQ(Shown(store_, cluster_, kLastKnownReconciled), "True@1");
  store_.PatchSpec(cluster_, R"({"a":1})");
  EXPECT_EQ(Shown(store_, cluster_, kReconciled), "False@2");
  EXPECT_EQ(Shown(store_, cluster_, kLastKnownReconciled), "True@1");
  ReportAll(cluster_, 2);
  EXPECT_EQ(Shown(store_, cluster_, kReconciled), "True@2");
}

TEST_F(ReportTest, OfAnUnlistedAdapterChangesNoCondition) {
  ReportAll(cluster_, 1);
  const engine::Position before = store_.statuses()->Find(cluster_)->position();
  store_.Do(Report(store_, cluster_, "unlisted", 1, kFalse));
  EXPECT_EQ(store_.statuses()->Find(cluster_)->position(), before);
  EXPECT_EQ(Adapters(cluster_).size(), 5U);
}

TEST_F(ReportTest, OfAKindWithoutAdaptersIsStoredAlone) {
  const std::string channel = store_.Add("Channel", "stable");
  EXPECT_EQ(store_.statuses()->Find(channel), nullptr);
  EXPECT_FALSE(store_.Do(Report(store_, channel, "any", 1)).document.empty());
  EXPECT_EQ(store_.statuses()->Find(channel), nullptr);
}

TEST_F(ReportTest, ThatIsTooLargeIsRefused) {
  ReportRequest report = Report(store_, cluster_, "dns", 1);
  report.data = "{\"a\":\"" + std::string(engine::kMaxRecordBytes, 'x') + "\"}";
  EXPECT_EQ(ReasonOf(store_.Judge(report)), RefusalReason::kTooLarge);
}

TEST_F(ReportTest, ReconciliationsAreCountedWhenTheyStart) {
  const auto started = [](const Judgement& judgement) {
    std::vector<std::string> kinds;
    for (const ReconciliationStart& start : judgement.reconciliations) {
      kinds.push_back(start.kind + (start.is_delete ? " delete" : ""));
    }
    return kinds;
  };
  using Kinds = std::vector<std::string>;
  EXPECT_EQ(started(store_.Do(Creation(store_, "Cluster", "new"))), Kinds{"Cluster"});
  EXPECT_EQ(started(store_.PatchSpec(cluster_, R"({"a":1})")), Kinds{});  // It was not before.
  ReportAll(cluster_, 2);
  EXPECT_EQ(started(store_.PatchSpec(cluster_, R"({"a":2})")), Kinds{"Cluster"});
  ReportAll(cluster_, 3);
  EXPECT_EQ(started(store_.Delete(cluster_)), Kinds{"Cluster delete"});
}

TEST_F(ReportTest, TwoOfOneBatchAboutOneResourceConflict) {
  const auto conflict = [this](const ReportRequest& a, const ReportRequest& b) {
    engine::ChangedFacts changed;
    store_.Judge(a);
    changed.Add(store_.footprint());
    store_.Judge(b);
    return changed.Touch(store_.footprint());
  };
  const std::string other = store_.Add("Cluster", "test");
  const ReportRequest dns = Report(store_, cluster_, "dns", 1);
  EXPECT_TRUE(conflict(dns, Report(store_, cluster_, "validation", 1)));
  EXPECT_FALSE(conflict(dns, Report(store_, other, "dns", 1)));
}

}  // namespace
}  // namespace projections
