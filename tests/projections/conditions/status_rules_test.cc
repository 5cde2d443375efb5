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

}  // namespace
}  // namespace projections
