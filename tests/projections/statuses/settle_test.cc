// What becomes of stored conditions when a registry makes others.

#include "projections/resources/settle.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/projections/statuses/reports.h"

namespace projections {
namespace {

using Adapters = std::vector<std::string>;

Registry Requiring(Adapters adapters) {
  return *Registry::Create(
      {Kind("Cluster", "clusters", "", OnParentDelete::kUnset, std::move(adapters))});
}

// What one store has, under another registry, and not settled yet.
void Continue(const TestStore& from, TestStore& to) {
  to.Replay(from.log());
  to.Replay(from.status_log());
}

std::size_t CountWith(const TestStore& store, std::string_view type,
                      schemas::ConditionStatus status) {
  return store.statuses()->WithCondition(type, status).size();
}

// A cluster about which `validation` reported, when it alone was required.
class SettleTest : public testing::Test {
 protected:
  SettleTest() { before_.Do(Report(before_, cluster_, "validation", 1)); }

  TestStore before_{Requiring({"validation"})};
  const std::string cluster_ = before_.Add("Cluster", "prod");
};

TEST_F(SettleTest, WhatIsAsItShouldBeStays) {
  EXPECT_TRUE(before_.Settle(cluster_).proposal.records.empty());
  EXPECT_TRUE(before_.Settle("nothing").proposal.records.empty());
}

TEST_F(SettleTest, AnAdapterThatIsRequiredNowIsWaitedFor) {
  TestStore store(Requiring({"validation", "dns"}));
  Continue(before_, store);
  EXPECT_EQ(Shown(store, cluster_, kReconciled), "True@1");
  const Judgement judgement = store.Settle(cluster_);
  EXPECT_EQ(Shown(store, cluster_, kReconciled), "False@1");
  EXPECT_EQ(CountWith(store, kReconciled, schemas::ConditionStatus::kFalse), 1U);
  EXPECT_EQ(judgement.reconciliations.size(), 1U);
  EXPECT_FALSE(judgement.proposal.audit.has_value());
  store.Do(Report(store, cluster_, "dns", 1));
  EXPECT_EQ(Shown(store, cluster_, kReconciled), "True@1");
}

TEST_F(SettleTest, AnAdapterThatIsRequiredNoMoreIsNotWaitedFor) {
  TestStore more(Requiring({"validation", "dns"}));
  Continue(before_, more);
  more.Settle(cluster_);
  TestStore store(Requiring({"validation"}));
  Continue(more, store);
  store.Settle(cluster_);
  EXPECT_EQ(Shown(store, cluster_, kReconciled), "True@1");
}

TEST_F(SettleTest, WithoutAdaptersNoConditionIsLeft) {
  TestStore store(Requiring({}));
  Continue(before_, store);
  store.Settle(cluster_);
  EXPECT_EQ(Shown(store, cluster_, kReconciled), "");
  EXPECT_EQ(CountWith(store, kReconciled, schemas::ConditionStatus::kTrue), 0U);
  EXPECT_TRUE(store.Settle(cluster_).proposal.records.empty());
}

// As of a journal from before conditions were recorded.
TEST_F(SettleTest, WhatHasNoConditionsGetsThoseOfItsCreation) {
  TestStore store(Requiring({"validation"}));
  store.Replay(before_.log());
  EXPECT_EQ(CountWith(store, kReconciled, schemas::ConditionStatus::kFalse), 0U);
  store.Settle(cluster_);
  EXPECT_EQ(Shown(store, cluster_, kReconciled), "False@1");
  EXPECT_EQ(CountWith(store, kReconciled, schemas::ConditionStatus::kFalse), 1U);
  EXPECT_EQ(store.statuses()->Find(cluster_)->FindCondition(kReconciled)->last_transition_time(),
            store.Find(cluster_)->table().created_time());
}

TEST_F(SettleTest, WhatWaitedOnlyForSuchAnAdapterGoes) {
  TestStore more(Requiring({"validation", "dns"}));
  Continue(before_, more);
  more.Delete(cluster_);
  more.Do(FinalReport(more, cluster_, "validation", 2));
  ASSERT_NE(more.Find(cluster_), nullptr);
  TestStore store(Requiring({"validation"}));
  Continue(more, store);
  const Judgement judgement = store.Settle(cluster_);
  EXPECT_EQ(store.Find(cluster_), nullptr);
  EXPECT_EQ(store.statuses()->Find(cluster_), nullptr);
  ASSERT_TRUE(judgement.proposal.audit.has_value());
  EXPECT_EQ(judgement.proposal.audit->action, "resource.finalize");
}

TEST(ConditionsFingerprintTest, ChangesWithWhatMakesConditions) {
  EntityDescriptor cluster = Kind("Cluster", "clusters", "", OnParentDelete::kUnset, {"a", "b"});
  const std::uint64_t before = ConditionsFingerprint(cluster);
  cluster.name_max_len = 7;
  EXPECT_EQ(ConditionsFingerprint(cluster), before);
  cluster.required_adapters = {"ab"};
  EXPECT_NE(ConditionsFingerprint(cluster), before);
  cluster.required_adapters = {"a", "b"};
  cluster.conditions = {{"Mine", "true", "true", "", ""}};
  const std::uint64_t with_rule = ConditionsFingerprint(cluster);
  EXPECT_NE(with_rule, before);
  cluster.conditions[0].status_expression = "false";
  EXPECT_NE(ConditionsFingerprint(cluster), with_rule);
}

}  // namespace
}  // namespace projections
