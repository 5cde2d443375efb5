// Mapped conditions where they belong: in the rules that recompute conditions.

#include <string>

#include <gmock/gmock.h>

#include "tests/projections/statuses/reports.h"

namespace projections {
namespace {

using testing::HasSubstr;

// Clusters with one adapter and a condition that repeats what its data says.
Registry Mapping() {
  EntityDescriptor cluster;
  cluster.kind = "Cluster";
  cluster.plural = "clusters";
  cluster.required_adapters = {"validation"};
  cluster.conditions = {{.type = "Mine",
                         .when_expression = "size(statuses) > 0",
                         .status_expression = "statuses[0].data.ok",
                         .reason_expression = "'G' + string(resource.generation)",
                         .message_expression = ""}};
  return *Registry::Create({cluster});
}

class StatusRuleConditionsTest : public testing::Test {
 protected:
  Judgement Send(std::string data) {
    ReportRequest report = Report(store_, cluster_, "validation", 1);
    report.data = std::move(data);
    return store_.Do(report);
  }

  TestStore store_{Mapping()};
  const std::string cluster_ = store_.Add("Cluster", "prod");
};

TEST_F(StatusRuleConditionsTest, AReportMovesThemToo) {
  EXPECT_EQ(Shown(store_, cluster_, "Mine"), "");
  EXPECT_FALSE(Send(R"({"ok":true})").refusal.has_value());
  EXPECT_EQ(Shown(store_, cluster_, "Mine"), "True@1");
  EXPECT_EQ(Shown(store_, cluster_, "Reconciled"), "True@1");
  EXPECT_FALSE(Send(R"({"ok":false})").refusal.has_value());
  EXPECT_EQ(Shown(store_, cluster_, "Mine"), "False@1");
}

TEST_F(StatusRuleConditionsTest, ARuleThatFailsRefusesTheReport) {
  const Judgement judgement = Send("{}");
  ASSERT_TRUE(judgement.refusal.has_value());
  EXPECT_EQ(judgement.refusal->reason, RefusalReason::kConditionFailed);
  EXPECT_THAT(judgement.refusal->detail, HasSubstr("condition Mine: status"));
  EXPECT_TRUE(judgement.proposal.records.empty());
  EXPECT_TRUE(store_.statuses()->Reports(cluster_).empty());
}

TEST_F(StatusRuleConditionsTest, APatchRecomputesThem) {
  Send(R"({"ok":true})");
  EXPECT_FALSE(store_.PatchSpec(cluster_, R"({"a":1})").refusal.has_value());
  EXPECT_EQ(Shown(store_, cluster_, "Mine"), "True@2");
  EXPECT_EQ(store_.statuses()->Find(cluster_)->FindCondition("Mine")->reason()->str(), "G2");
}

// A kind that requires nobody has the conditions of its rules and no others.
class LoneRulesTest : public testing::Test {
 protected:
  static Registry Lone() {
    EntityDescriptor channel;
    channel.kind = "Channel";
    channel.plural = "channels";
    channel.conditions = {{.type = "Mine",
                           .when_expression = "size(statuses) > 0",
                           .status_expression = "statuses[0].data.ok",
                           .reason_expression = "",
                           .message_expression = ""}};
    return *Registry::Create({channel});
  }
  std::size_t Conditions() const {
    const StatusEntry* entry = store_.statuses()->Find(channel_);
    return entry == nullptr ? 0 : entry->table().conditions()->size();
  }

  TestStore store_{Lone()};
  const std::string channel_ = store_.Add("Channel", "stable");
};

TEST_F(LoneRulesTest, RunWithReportsPatchesAndDeletions) {
  EXPECT_EQ(store_.statuses()->Find(channel_), nullptr);
  ReportRequest report = Report(store_, channel_, "any", 1);
  report.data = R"({"ok":true})";
  EXPECT_TRUE(store_.Do(report).reconciliations.empty());
  EXPECT_EQ(Shown(store_, channel_, "Mine"), "True@1");
  EXPECT_EQ(Conditions(), 1U);
  EXPECT_TRUE(store_.PatchSpec(channel_, R"({"a":1})").reconciliations.empty());
  EXPECT_EQ(Shown(store_, channel_, "Mine"), "True@2");
  EXPECT_FALSE(store_.Delete(channel_).refusal.has_value());
  EXPECT_EQ(store_.statuses()->Find(channel_), nullptr);
  EXPECT_TRUE(store_.statuses()->Reports(channel_).empty());
}

TEST_F(LoneRulesTest, AConditionGoesWhenItsRuleDoesNotApply) {
  ReportRequest report = Report(store_, channel_, "any", 1);
  report.data = R"({"ok":true})";
  store_.Do(report);
  report = Report(store_, channel_, "any", 1);
  report.conditions.push_back(Says("Other", schemas::ConditionStatus::kUnknown));
  store_.Do(report);
  EXPECT_EQ(Conditions(), 0U);
}

TEST_F(LoneRulesTest, ARuleThatFailsRefusesTheReport) {
  const Judgement judgement = store_.Do(Report(store_, channel_, "any", 1));
  EXPECT_EQ(ReasonOf(judgement), RefusalReason::kConditionFailed);
}

}  // namespace
}  // namespace projections
