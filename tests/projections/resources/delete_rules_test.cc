#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "projections/resources/rules.h"
#include "tests/projections/resources/requests.h"
#include "tests/projections/resources/store.h"

namespace projections {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(DeleteRuleTest, MarksWhatHasToBeFinalizedAndItsChildren) {
  TestStore store;
  const std::string cluster = store.Add("Cluster", "prod");
  const std::string pool = store.Add("NodePool", "np-1", cluster);
  store.Pass(500);
  const engine::Timestamp now = store.now();
  const Judgement judgement = store.Delete(cluster);
  EXPECT_THAT(KeysOf(judgement), ElementsAre(cluster, pool));
  for (const std::string& id : {cluster, pool}) {
    const ResourceState state = StateOf(store.Find(id)->table());
    EXPECT_EQ(state.generation, 2);
    EXPECT_EQ(state.deletion->time, now);
    EXPECT_EQ(state.deletion->by, "carol");
    EXPECT_EQ(state.updated_time, now);
    EXPECT_EQ(state.updated_by, "alice");
  }
  EXPECT_EQ(judgement.proposal.audit->action, "resource.delete");
  EXPECT_EQ(judgement.proposal.audit->details.at("finalizing"), "2");
  EXPECT_EQ(judgement.proposal.audit->details.at("removed"), "0");
  EXPECT_THAT(judgement.document, HasSubstr(R"("deleted_by":"carol")"));
  EXPECT_THAT(judgement.document, HasSubstr(R"("observed_generation":2)"));
}

TEST(DeleteRuleTest, RepeatedItChangesNothing) {
  TestStore store;
  const std::string cluster = store.Add("Cluster", "prod");
  const Judgement first = store.Delete(cluster);
  const std::size_t written = store.log().size();
  store.Pass(1000);
  const Judgement second = store.Delete(cluster, "somebody else");
  EXPECT_EQ(second.document, first.document);
  EXPECT_EQ(second.unchanged_position, store.Find(cluster)->position());
  EXPECT_EQ(store.log().size(), written);
}

TEST(DeleteRuleTest, RemovesAtOnceWhatNeedsNoAdapters) {
  TestStore store;
  const std::string channel = store.Add("Channel", "stable");
  const Judgement judgement = store.Delete(channel);
  EXPECT_EQ(store.Find(channel), nullptr);
  EXPECT_EQ(CauseOf(store, channel), schemas::RemovalCause::kDeleted);
  EXPECT_EQ(store.log().back().flags, engine::kTombstone);
  EXPECT_THAT(judgement.document, HasSubstr("\"deleted_time\""));
  EXPECT_THAT(judgement.document, HasSubstr(R"("generation":2)"));
  EXPECT_EQ(judgement.proposal.audit->details.at("removed"), "1");
  EXPECT_EQ(ReasonOf(store.Delete(channel)), RefusalReason::kNotFound);
}

TEST(DeleteRuleTest, RestrictRefusesWhileAChildIsActive) {
  TestStore store;
  const std::string channel = store.Add("Channel", "stable");
  const std::string version = store.Add("Version", "v1", channel);
  const Judgement judgement = store.Judge(DeleteRequest{{channel, {}, {}}, {}, "carol"});
  ASSERT_EQ(ReasonOf(judgement), RefusalReason::kActiveChildren);
  EXPECT_THAT(judgement.refusal->detail, HasSubstr("active"));
  store.Delete(version);
  store.Delete(channel);
  EXPECT_EQ(store.image()->size(), 0U);
}

TEST(DeleteRuleTest, ARefusalNamesNoChildThatTheCallerDoesNotSee) {
  TestStore store;
  CreateRequest channel = Creation(store, "Channel", "stable");
  channel.tenancy = {{"org", "o"}, {"project", "p"}};
  store.Do(channel);
  CreateRequest version = Creation(store, "Version", "hidden", channel.id);
  version.tenancy = {{"org", "o"}};
  store.Do(version);
  const auto refusal = [&](Tenancy dims) {
    const Target target{channel.id, {}, {}, TenantScope::Of(std::move(dims))};
    return store.Judge(DeleteRequest{target, {}, "carol"}).refusal;
  };
  const auto hidden = refusal(channel.tenancy);
  ASSERT_TRUE(hidden.has_value());
  EXPECT_EQ(hidden->reason, RefusalReason::kActiveChildren);
  EXPECT_THAT(hidden->detail, testing::EndsWith("it has an active Version"));
  EXPECT_THAT(refusal({{"org", "o"}})->detail, testing::EndsWith("an active Version 'hidden'"));
}

TEST(DeleteRuleTest, RestrictTwoLevelsDownRefusesAll) {
  TestStore store(ThreeLevels());
  const std::string top = store.Add("Top", "t");
  const std::string middle = store.Add("Middle", "m", top);
  store.Add("Leaf", "l", middle);
  store.Add("Lock", "k", middle);
  const std::uint64_t before = store.image()->StateDigest();
  EXPECT_EQ(ReasonOf(store.Delete(top)), RefusalReason::kActiveChildren);
  EXPECT_EQ(store.image()->StateDigest(), before);
}

TEST(DeleteRuleTest, ACascadeWithNothingToWaitForRemovesAllAtOnce) {
  TestStore store(ThreeLevels());
  const std::string top = store.Add("Top", "t");
  const std::string middle = store.Add("Middle", "m", top);
  const std::string leaf = store.Add("Leaf", "l", middle);
  const Judgement judgement = store.Delete(top);
  EXPECT_THAT(KeysOf(judgement), ElementsAre(top, middle, leaf));
  EXPECT_EQ(store.image()->size(), 0U);
  EXPECT_EQ(CauseOf(store, top), schemas::RemovalCause::kDeleted);
  EXPECT_EQ(CauseOf(store, leaf), schemas::RemovalCause::kCascaded);
}

TEST(DeleteRuleTest, OwnersWaitForAFinalizingGrandchildWhileItsSiblingsGo) {
  TestStore store(ThreeLevels());
  const std::string top = store.Add("Top", "t");
  const std::string middle = store.Add("Middle", "m", top);
  const std::string other = store.Add("Middle", "o", top);
  const std::string leaf = store.Add("Leaf", "l", middle);
  const std::string slow = store.Add("Slow", "s", middle);
  store.Delete(top);
  for (const std::string& id : {top, middle, slow}) {
    ASSERT_NE(store.Find(id), nullptr);
    EXPECT_TRUE(store.Find(id)->is_deleting());
    EXPECT_EQ(store.Find(id)->table().generation(), 2);
  }
  EXPECT_EQ(store.Find(leaf), nullptr);
  EXPECT_EQ(store.Find(other), nullptr);

  // The last one takes its owners along: they waited for nothing else.
  store.ForceDelete(slow);
  EXPECT_EQ(store.image()->size(), 0U);
  EXPECT_EQ(CauseOf(store, slow), schemas::RemovalCause::kForced);
  EXPECT_EQ(CauseOf(store, middle), schemas::RemovalCause::kFinalized);
  EXPECT_EQ(CauseOf(store, top), schemas::RemovalCause::kFinalized);
}

TEST(DeleteRuleTest, AnOwnerStaysUntilItsLastChildIsGone) {
  TestStore store(ThreeLevels());
  const std::string top = store.Add("Top", "t");
  const std::string middle = store.Add("Middle", "m", top);
  const std::string first = store.Add("Slow", "a", middle);
  const std::string second = store.Add("Slow", "b", middle);
  store.Delete(top);
  store.ForceDelete(first);
  EXPECT_NE(store.Find(middle), nullptr);
  EXPECT_NE(store.Find(top), nullptr);
  store.ForceDelete(second);
  EXPECT_EQ(store.image()->size(), 0U);
}

TEST(DeleteRuleTest, AnOwnerWithAdaptersOfItsOwnDoesNotLeaveWithItsChildren) {
  TestStore store;
  const std::string cluster = store.Add("Cluster", "prod");
  const std::string pool = store.Add("NodePool", "np-1", cluster);
  store.Delete(cluster);
  store.ForceDelete(pool);
  EXPECT_EQ(store.Find(pool), nullptr);
  EXPECT_NE(store.Find(cluster), nullptr);
}

TEST(DeleteRuleTest, AFinalizingChildThatRestrictsMakesItsOwnerWait) {
  // A Lock that has to be finalized restricts only while it is active.
  TestStore store(*Registry::Create({Kind("A", "as", "", OnParentDelete::kUnset),
                                     Kind("B", "bs", "A", OnParentDelete::kRestrict, {"x"})}));
  const std::string owner = store.Add("A", "a");
  const std::string child = store.Add("B", "b", owner);
  EXPECT_EQ(ReasonOf(store.Delete(owner)), RefusalReason::kActiveChildren);
  store.Delete(child);
  store.Delete(owner);
  ASSERT_NE(store.Find(owner), nullptr);
  EXPECT_TRUE(store.Find(owner)->is_deleting());
  store.ForceDelete(child);
  EXPECT_EQ(store.Find(owner), nullptr);
}

TEST(DeleteRuleTest, AChildThatIsAlreadyMarkedKeepsItsDeletion) {
  TestStore store;
  const std::string cluster = store.Add("Cluster", "prod");
  const std::string pool = store.Add("NodePool", "np-1", cluster);
  store.Delete(pool, "first");
  store.Pass(1000);
  EXPECT_THAT(KeysOf(store.Delete(cluster, "second")), ElementsAre(cluster));
  EXPECT_EQ(StateOf(store.Find(pool)->table()).deletion->by, "first");
  EXPECT_EQ(store.Find(pool)->table().generation(), 2);
}

TEST(DeleteRuleTest, SiblingsAndOwnersOfTheTargetAreLeftAlone) {
  TestStore store;
  const std::string cluster = store.Add("Cluster", "prod");
  const std::string pool = store.Add("NodePool", "np-1", cluster);
  const std::string sibling = store.Add("NodePool", "np-2", cluster);
  EXPECT_THAT(KeysOf(store.Delete(pool)), ElementsAre(pool));
  EXPECT_EQ(store.Find(sibling)->table().generation(), 1);
  EXPECT_EQ(store.Find(cluster)->table().generation(), 1);
}

TEST(DeleteRuleTest, MoreThanATransactionHoldsIsRefused) {
  TestStore store;
  const std::string cluster = store.Add("Cluster", "prod");
  const std::string spec = "{\"a\":\"" + std::string(900'000, 'x') + "\"}";
  for (int i = 0; i < 5; ++i) {
    store.PatchSpec(store.Add("NodePool", "np-" + std::to_string(i), cluster), spec);
  }
  EXPECT_EQ(ReasonOf(store.Delete(cluster)), RefusalReason::kTooLarge);
  for (int i = 0; i < 2; ++i) {
    store.Delete(store.image()->Children(cluster)[static_cast<std::size_t>(i)]->id());
  }
  EXPECT_FALSE(store.Delete(cluster).refusal.has_value());
}

// The journal's lock is held meanwhile.
TEST(DeleteRuleTest, WhatCannotFitIsNotLookedThroughToItsEnd) {
  constexpr std::size_t kFits = engine::kMaxTransactionBytes / engine::RowCost(36, 64);
  TestStore store(ThreeLevels());
  const std::string top = store.Add("Top", "top");
  for (std::size_t i = 0; i < kFits + 1000; ++i) {
    store.Add("Middle", "m-" + std::to_string(i), top);
  }
  EXPECT_EQ(ReasonOf(store.Judge(DeleteRequest{{top, {}, {}}, {}, "carol"})),
            RefusalReason::kTooLarge);
  const auto looked = std::ranges::count_if(
      store.footprint().reads(), [](const std::string& fact) { return fact.starts_with("r/"); });
  EXPECT_LE(looked, static_cast<std::ptrdiff_t>(kFits) + 1);
}

TEST(ForceDeleteRuleTest, AnActiveResourceIsRefused) {
  TestStore store;
  const std::string cluster = store.Add("Cluster", "prod");
  EXPECT_EQ(ReasonOf(store.ForceDelete(cluster)), RefusalReason::kNotDeleting);
  ASSERT_NE(store.Find(cluster), nullptr);
  EXPECT_FALSE(store.Find(cluster)->is_deleting());
}

TEST(ForceDeleteRuleTest, TheWholeSubtreeGoes) {
  TestStore store;
  const std::string cluster = store.Add("Cluster", "prod");
  store.Add("NodePool", "np-1", cluster);
  store.Add("NodePool", "np-2", cluster);
  const std::string bystander = store.Add("Cluster", "test");
  store.Delete(cluster);
  const Judgement judgement = store.ForceDelete(cluster);
  // Each of the three, and its conditions.
  EXPECT_EQ(judgement.proposal.records.size(), 6U);
  EXPECT_EQ(judgement.proposal.records.front().key, cluster);
  EXPECT_EQ(store.image()->size(), 1U);
  EXPECT_NE(store.Find(bystander), nullptr);
  EXPECT_EQ(judgement.proposal.audit->action, "resource.force-delete");
  EXPECT_EQ(judgement.proposal.audit->target, "clusters/" + cluster);
  EXPECT_EQ(judgement.proposal.audit->details.at("reason"), "stuck");
  EXPECT_EQ(judgement.proposal.audit->details.at("removed"), "3");
  EXPECT_EQ(ReasonOf(store.ForceDelete(cluster)), RefusalReason::kNotFound);
  const auto view = schemas::Decode(store.log().back().payload);
  EXPECT_EQ(schemas::Text(view->As<schemas::ResourceTombstone>()->reason()), "stuck");
}

TEST(ForceDeleteRuleTest, ChildrenGoWhateverTheirStateAndPolicy) {
  // An active child that restricts, under an owner that was marked when its kind did not yet.
  TestStore store(*Registry::Create({Kind("A", "as", "", OnParentDelete::kUnset, {"x"}),
                                     Kind("B", "bs", "A", OnParentDelete::kRestrict)}));
  const std::string owner = store.Add("A", "a");
  store.Add("B", "b", owner);
  ResourceState marked = StateOf(store.Find(owner)->table());
  marked.deletion = DeletionState{store.now(), "carol"};
  engine::Proposal proposal;
  proposal.records.push_back(
      {ResourcesImage::kStream, owner, store.Find(owner)->position(), 0, EncodeResource(marked)});
  store.Commit(proposal);
  store.ForceDelete(owner);
  EXPECT_EQ(store.image()->size(), 0U);
}

TEST(DeleteRuleTest, ChildrenOfAKindThatIsNotRegisteredAnyMoreAreKept) {
  TestStore store(*Registry::Create({Kind("Top", "tops", "", OnParentDelete::kUnset)}));
  const std::string owner = store.Add("Top", "t");
  ResourceState orphan = StateOf(store.Find(owner)->table());
  orphan.owner = OwnerState{owner, "Top", orphan.href};
  orphan.id = store.NextId();
  orphan.kind = "Vanished";
  engine::Proposal proposal;
  proposal.records.push_back({ResourcesImage::kStream, orphan.id, engine::Position::kBeforeFirst, 0,
                              EncodeResource(orphan)});
  store.Commit(proposal);
  EXPECT_EQ(ReasonOf(store.Delete(owner)), RefusalReason::kActiveChildren);
  store.Delete(orphan.id);
  store.Delete(owner);
  EXPECT_EQ(store.image()->size(), 0U);
}

}  // namespace
}  // namespace projections
