// When what is finalizing goes, because an adapter reported or because a child went.

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "engine/footprint.h"
#include "projections/resources/report.h"
#include "tests/projections/statuses/reports.h"

namespace projections {
namespace {

using schemas::ConditionStatus;
using schemas::RemovalCause;

class FinalizeTest : public testing::Test {
 protected:
  // Both adapters of a node pool are done with it; the answer to the second.
  Judgement FinishPool(std::string_view id, std::int32_t generation = 2) {
    store_.Do(FinalReport(store_, id, "validation", generation));
    return store_.Do(FinalReport(store_, id, "hypershift", generation));
  }
  void FinishCluster(std::string_view id, std::int32_t generation = 2) {
    for (const char* adapter : {"validation", "dns", "pullsecret", "hypershift"}) {
      store_.Do(FinalReport(store_, id, adapter, generation));
    }
  }
  bool IsGone(std::string_view id) const {
    return store_.Find(id) == nullptr && store_.statuses()->Find(id) == nullptr &&
           store_.statuses()->Reports(id).empty();
  }

  TestStore store_;
  const std::string cluster_ = store_.Add("Cluster", "prod");
  const std::string pool_ = store_.Add("NodePool", "np-1", cluster_);
};

TEST_F(FinalizeTest, TheLastRequiredAdapterRemovesIt) {
  store_.Delete(pool_);
  store_.Do(FinalReport(store_, pool_, "validation", 2));
  store_.Do(FinalReport(store_, pool_, "unlisted", 2));
  EXPECT_FALSE(IsGone(pool_));
  const Judgement last = store_.Do(FinalReport(store_, pool_, "hypershift", 2));
  EXPECT_TRUE(IsGone(pool_));
  EXPECT_FALSE(last.document.empty());
  EXPECT_EQ(last.proposal.audit->action, "resource.finalize");
  EXPECT_EQ(CauseOf(store_, pool_), RemovalCause::kFinalized);
  EXPECT_FALSE(store_.Find(cluster_)->is_deleting());
}

TEST_F(FinalizeTest, AnotherGenerationDoesNotCount) {
  store_.Do(FinalReport(store_, pool_, "validation", 1));
  store_.Delete(pool_);
  store_.Do(FinalReport(store_, pool_, "hypershift", 2));
  EXPECT_FALSE(IsGone(pool_));
  EXPECT_EQ(Shown(store_, pool_, kReconciled), "False@2");
  store_.Do(FinalReport(store_, pool_, "validation", 2));
  EXPECT_TRUE(IsGone(pool_));
}

TEST_F(FinalizeTest, FinalizedFalseOrAbsentDoesNotCount) {
  store_.Delete(pool_);
  for (const char* adapter : {"validation", "hypershift"}) {
    ReportRequest report = FinalReport(store_, pool_, adapter, 2);
    report.conditions.back().status = ConditionStatus::kFalse;
    store_.Do(report);
    store_.Do(Report(store_, pool_, adapter, 2));
  }
  EXPECT_FALSE(IsGone(pool_));
}

TEST_F(FinalizeTest, OfAnActiveResourceIsIgnored) {
  FinishPool(pool_, 1);
  EXPECT_FALSE(IsGone(pool_));
}

TEST_F(FinalizeTest, WhatWasSaidBeforeTheDeletionDoesNotCount) {
  FinishPool(pool_, 1);
  FinishCluster(cluster_, 1);
  store_.Delete(cluster_);
  EXPECT_FALSE(IsGone(pool_));
  EXPECT_FALSE(IsGone(cluster_));
  EXPECT_EQ(store_.Find(pool_)->table().generation(), 2);
}

TEST_F(FinalizeTest, AnAdapterThatDoesNotKnowWhetherItIsAvailableCounts) {
  store_.Delete(pool_);
  store_.Do(FinalReport(store_, pool_, "validation", 2));
  store_.Do(Report(store_, pool_, "hypershift", 2));
  ReportRequest report = FinalReport(store_, pool_, "hypershift", 2);
  report.conditions[0].status = ConditionStatus::kUnknown;
  EXPECT_FALSE(store_.Do(report).document.empty());
  EXPECT_TRUE(IsGone(pool_));
}

TEST_F(FinalizeTest, AParentWaitsForItsChildren) {
  store_.Delete(cluster_);
  FinishCluster(cluster_);
  EXPECT_FALSE(IsGone(cluster_));
  EXPECT_EQ(Shown(store_, cluster_, kReconciled), "False@2");
  const StatusEntry* status = store_.statuses()->Find(cluster_);
  EXPECT_EQ(schemas::Text(status->FindCondition(kReconciled)->reason()),
            "ReconciledWaitingForChildren");
}

TEST_F(FinalizeTest, AParentThatIsDoneGoesWithItsLastChild) {
  const std::string other = store_.Add("NodePool", "np-2", cluster_);
  store_.Delete(cluster_);
  FinishCluster(cluster_);
  FinishPool(other);
  EXPECT_TRUE(IsGone(other));
  EXPECT_FALSE(IsGone(cluster_));
  const Judgement last = FinishPool(pool_);
  EXPECT_EQ(KeysOf(last), (std::vector<std::string>{pool_, cluster_}));
  EXPECT_TRUE(IsGone(pool_));
  EXPECT_TRUE(IsGone(cluster_));
}

TEST_F(FinalizeTest, AParentThatIsNotDoneStaysAfterItsLastChild) {
  store_.Delete(cluster_);
  FinishPool(pool_);
  EXPECT_FALSE(IsGone(cluster_));
  FinishCluster(cluster_);
  EXPECT_TRUE(IsGone(cluster_));
}

TEST_F(FinalizeTest, AReportAboutAParentAndTheEndOfItsLastChildConflict) {
  store_.Delete(cluster_);
  for (const char* adapter : {"validation", "dns", "pullsecret"}) {
    store_.Do(FinalReport(store_, cluster_, adapter, 2));
  }
  store_.Do(FinalReport(store_, pool_, "validation", 2));
  const ReportRequest parent = FinalReport(store_, cluster_, "hypershift", 2);
  const ReportRequest child = FinalReport(store_, pool_, "hypershift", 2);
  for (const auto& [first, second] : {std::pair(parent, child), std::pair(child, parent)}) {
    engine::ChangedFacts changed;
    store_.Judge(first);
    changed.Add(store_.footprint());
    store_.Judge(second);
    EXPECT_TRUE(changed.Touch(store_.footprint()));
  }
}

TEST_F(FinalizeTest, AnActiveParentStays) {
  FinishCluster(cluster_, 1);
  store_.Delete(pool_);
  FinishPool(pool_);
  EXPECT_TRUE(IsGone(pool_));
  EXPECT_FALSE(IsGone(cluster_));
}

TEST_F(FinalizeTest, ForceDeleteTakesWhatWasReportedWithIt) {
  store_.Do(Report(store_, pool_, "validation", 1));
  store_.Do(Report(store_, cluster_, "dns", 1));
  store_.Delete(cluster_);
  store_.ForceDelete(cluster_);
  EXPECT_TRUE(IsGone(pool_));
  EXPECT_TRUE(IsGone(cluster_));
  EXPECT_EQ(store_.statuses()->StateDigest(), 0U);
}

TEST_F(FinalizeTest, WhatIsGoneAtOnceLeavesNoReport) {
  const std::string channel = store_.Add("Channel", "stable");
  store_.Do(Report(store_, channel, "any", 1));
  store_.Delete(channel);
  EXPECT_TRUE(IsGone(channel));
}

}  // namespace
}  // namespace projections
