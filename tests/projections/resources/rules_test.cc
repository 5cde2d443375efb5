#include "projections/resources/rules.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/projections/resources/requests.h"
#include "tests/projections/resources/store.h"

namespace projections {
namespace {

using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

TEST(CreateRuleTest, MakesTheFirstGeneration) {
  TestStore store;
  const engine::Timestamp now = store.now();
  const CreateRequest request = Creation(store, "Cluster", "prod");
  const Judgement judgement = store.Do(request);
  const ResourceEntry* entry = store.Find(request.id);
  ASSERT_NE(entry, nullptr);
  const ResourceState state = StateOf(entry->table());
  EXPECT_EQ(state.generation, 1);
  EXPECT_EQ(state.href, "/api/hyperfleet/v1/clusters/" + request.id);
  EXPECT_EQ(state.created_by, "alice");
  EXPECT_EQ(state.updated_by, "alice");
  EXPECT_EQ(state.created_time, now);
  EXPECT_EQ(state.updated_time, now);
  EXPECT_EQ(state.labels, request.labels);
  EXPECT_EQ(state.spec, request.spec);
  EXPECT_THAT(judgement.document, HasSubstr("\"observed_generation\":1"));
  EXPECT_EQ(judgement.proposal.audit->action, "resource.create");
  EXPECT_EQ(judgement.proposal.audit->target, "clusters/" + request.id);
  EXPECT_EQ(judgement.proposal.audit->actor, "alice");
  EXPECT_THAT(
      judgement.proposal.audit->details,
      UnorderedElementsAre(Pair("kind", "Cluster"), Pair("name", "prod"), Pair("generation", "1")));
}

TEST(CreateRuleTest, AChildIsBelowItsOwner) {
  TestStore store;
  const std::string cluster = store.Add("Cluster", "prod");
  const std::string pool = store.Add("NodePool", "np-1", cluster);
  const ResourceState state = StateOf(store.Find(pool)->table());
  EXPECT_EQ(state.owner->id, cluster);
  EXPECT_EQ(state.owner->kind, "Cluster");
  EXPECT_EQ(state.owner->href, "/api/hyperfleet/v1/clusters/" + cluster);
  EXPECT_EQ(state.href, state.owner->href + "/nodepools/" + pool);
}

TEST(CreateRuleTest, ANameIsTakenOnceAmongRoots) {
  TestStore store;
  store.Add("Cluster", "prod");
  const Judgement judgement = store.Judge(Creation(store, "Cluster", "prod"));
  ASSERT_EQ(ReasonOf(judgement), RefusalReason::kNameTaken);
  ASSERT_EQ(judgement.refusal->errors.size(), 1U);
  EXPECT_EQ(judgement.refusal->errors[0].field, "name");
  EXPECT_EQ(judgement.refusal->errors[0].constraint, "unique");
  store.Add("Channel", "prod");  // Another kind has names of its own.
}

TEST(CreateRuleTest, ATenancyHasNamesOfItsOwn) {
  TestStore store;
  CreateRequest request = Creation(store, "Cluster", "prod");
  request.tenancy = {{"org", "acme"}};
  store.Do(request);
  request.id = store.NextId();
  EXPECT_EQ(ReasonOf(store.Judge(request)), RefusalReason::kNameTaken);
  for (const Tenancy& other : {Tenancy{}, Tenancy{{"org", "acme"}, {"project", "p"}},
                               Tenancy{{"org", "acmf"}}, Tenancy{{"orh", "acme"}}}) {
    request.id = store.NextId();
    request.tenancy = other;
    EXPECT_FALSE(store.Do(request).refusal.has_value());
    request.id = store.NextId();
    EXPECT_EQ(ReasonOf(store.Judge(request)), RefusalReason::kNameTaken);
  }
}

TEST(CreateRuleTest, ANameIsTakenOnceUnderOneOwner) {
  TestStore store;
  const std::string first = store.Add("Cluster", "prod");
  const std::string second = store.Add("Cluster", "test");
  store.Add("NodePool", "np-1", first);
  EXPECT_EQ(ReasonOf(store.Judge(Creation(store, "NodePool", "np-1", first))),
            RefusalReason::kNameTaken);
  store.Add("NodePool", "np-1", second);
}

TEST(CreateRuleTest, ANameIsFreeAgainOnceItsHolderIsMarkedOrGone) {
  TestStore store;
  store.Delete(store.Add("Cluster", "prod"));
  const std::string second = store.Add("Cluster", "prod");
  store.Delete(second);
  store.ForceDelete(second);
  store.Add("Cluster", "prod");
  EXPECT_EQ(ReasonOf(store.Judge(Creation(store, "Cluster", "prod"))), RefusalReason::kNameTaken);
}

TEST(CreateRuleTest, TheParentIsThereAndOfTheRightKind) {
  TestStore store;
  EXPECT_EQ(ReasonOf(store.Judge(Creation(store, "NodePool", "np-1", "nowhere"))),
            RefusalReason::kParentNotFound);
  const std::string channel = store.Add("Channel", "stable");
  const Judgement judgement = store.Judge(Creation(store, "NodePool", "np-1", channel));
  EXPECT_EQ(ReasonOf(judgement), RefusalReason::kParentNotFound);
  EXPECT_EQ(judgement.refusal->detail, "Cluster with id='" + channel + "' not found");
}

TEST(CreateRuleTest, AParentOnItsWayOutAdoptsNobody) {
  TestStore store;
  const std::string cluster = store.Add("Cluster", "prod");
  store.Delete(cluster);
  const Judgement judgement = store.Judge(Creation(store, "NodePool", "np-1", cluster));
  ASSERT_EQ(ReasonOf(judgement), RefusalReason::kMarkedForDeletion);
  EXPECT_THAT(judgement.refusal->detail, HasSubstr("marked for deletion"));
}

TEST(CreateRuleTest, ARecordOverTheLimitIsRefusedBeforeAndUnderTheLock) {
  TestStore store;
  CreateRequest request = Creation(store, "Cluster", "prod");
  request.spec = "{\"a\":\"" + std::string(engine::kMaxRecordBytes, 'x') + "\"}";
  EXPECT_EQ(CheckSize(request.spec, {})->reason, RefusalReason::kTooLarge);
  EXPECT_EQ(ReasonOf(store.Judge(request)), RefusalReason::kTooLarge);
  request.spec = "{\"a\":\"" + std::string(engine::kMaxRecordBytes - 8192, 'x') + "\"}";
  EXPECT_FALSE(CheckSize(request.spec, request.labels).has_value());
  const Judgement judgement = store.Do(request);
  ASSERT_FALSE(judgement.refusal.has_value());
  EXPECT_LE(judgement.proposal.records[0].payload.size(), engine::kMaxRecordBytes);
  // What fits can also be deleted.
  const Judgement deleted = store.Delete(request.id, std::string(255, 'd'));
  EXPECT_LE(deleted.proposal.records[0].payload.size(), engine::kMaxRecordBytes);
}

TEST(PatchRuleTest, ReplacesSpecAndRaisesTheGeneration) {
  TestStore store;
  const std::string id = store.Add("Cluster", "prod");
  const engine::Timestamp created = store.now();
  store.Pass(1000);
  const engine::Timestamp now = store.now();
  const Judgement judgement = store.Do(Patch(id, R"({"b":2})"));
  const ResourceState state = StateOf(store.Find(id)->table());
  EXPECT_EQ(state.spec, R"({"b":2})");
  EXPECT_EQ(state.generation, 2);
  EXPECT_EQ(state.updated_by, "bob");
  EXPECT_EQ(state.updated_time, now);
  EXPECT_EQ(state.created_by, "alice");
  EXPECT_LT(state.created_time, created);
  EXPECT_EQ(judgement.proposal.audit->action, "resource.patch");
  EXPECT_EQ(judgement.proposal.audit->details.at("generation"), "2");
  EXPECT_THAT(judgement.document, HasSubstr(R"("spec":{"b":2})"));
}

TEST(PatchRuleTest, ReplacesLabels) {
  TestStore store;
  const std::string id = store.Add("Cluster", "prod");
  store.Do(Patch(id, {}, Labels{{"a", "1"}, {"b", "2"}}));
  store.Do(Patch(id, {}, Labels{{"c", "3"}}));
  EXPECT_EQ(StateOf(store.Find(id)->table()).labels, (Labels{{"c", "3"}}));
  store.Do(Patch(id, {}, Labels{}));
  EXPECT_TRUE(StateOf(store.Find(id)->table()).labels.empty());
  EXPECT_EQ(store.Find(id)->table().generation(), 4);
}

TEST(PatchRuleTest, WhatIsAlreadySoChangesNothing) {
  TestStore store;
  const std::string id = store.Add("Cluster", "prod");
  store.Do(Patch(id, R"({"b":2})", Labels{{"a", "1"}}));
  const std::size_t written = store.log().size();
  const engine::Position position = store.Find(id)->position();
  for (const PatchRequest& again : {Patch(id, R"({"b":2})"), Patch(id, {}, Labels{{"a", "1"}}),
                                    Patch(id, R"({"b":2})", Labels{{"a", "1"}})}) {
    const Judgement judgement = store.Do(again);
    EXPECT_FALSE(judgement.refusal.has_value());
    EXPECT_FALSE(judgement.proposal.audit.has_value());
    EXPECT_EQ(judgement.unchanged_position, position);
    EXPECT_THAT(judgement.document, HasSubstr(R"("generation":2)"));
  }
  EXPECT_EQ(store.log().size(), written);
}

TEST(PatchRuleTest, AResourceOnItsWayOutCannotBeChanged) {
  TestStore store;
  const std::string cluster = store.Add("Cluster", "prod");
  const std::string pool = store.Add("NodePool", "np-1", cluster);
  store.Delete(cluster);
  for (const std::string& id : {cluster, pool}) {
    const Judgement judgement = store.Judge(Patch(id, R"({"b":2})"));
    ASSERT_EQ(ReasonOf(judgement), RefusalReason::kMarkedForDeletion);
    EXPECT_THAT(judgement.refusal->detail, HasSubstr("marked for deletion"));
  }
}

TEST(PatchRuleTest, SpecAndLabelsTogetherStayUnderTheLimit) {
  TestStore store;
  const std::string id = store.Add("Cluster", "prod");
  store.Do(Patch(id, "{\"a\":\"" + std::string(engine::kMaxRecordBytes - 8192, 'x') + "\"}"));
  Labels labels;
  for (int i = 0; i < 100; ++i) {
    labels[std::to_string(i)] = std::string(60, 'v');
  }
  EXPECT_EQ(ReasonOf(store.Judge(Patch(id, {}, labels))), RefusalReason::kTooLarge);
}

TEST(TargetTest, IsFoundByIdKindAndParent) {
  TestStore store;
  const std::string cluster = store.Add("Cluster", "prod");
  const std::string other = store.Add("Cluster", "test");
  const std::string pool = store.Add("NodePool", "np-1", cluster);
  const auto reason = [&store](const Target& target) -> std::optional<RefusalReason> {
    const FoundTarget found = FindTarget(target, store.registry(), *store.image(), nullptr);
    EXPECT_EQ(found.entry == nullptr, found.refusal.has_value());
    return found.refusal.has_value() ? std::optional(found.refusal->reason) : std::nullopt;
  };
  EXPECT_EQ(reason({pool, "", ""}), std::nullopt);
  EXPECT_EQ(reason({pool, "NodePool", ""}), std::nullopt);
  EXPECT_EQ(reason({pool, "NodePool", cluster}), std::nullopt);
  EXPECT_EQ(reason({pool, "Cluster", ""}), RefusalReason::kNotFound);
  EXPECT_EQ(reason({pool, "NodePool", other}), RefusalReason::kNotFound);
  EXPECT_EQ(reason({pool, "NodePool", "nowhere"}), RefusalReason::kParentNotFound);
  EXPECT_EQ(reason({pool, "NodePool", pool}), RefusalReason::kParentNotFound);
  EXPECT_EQ(reason({"nowhere", "NodePool", cluster}), RefusalReason::kNotFound);
  EXPECT_EQ(reason({"nowhere", "", ""}), RefusalReason::kNotFound);
}

TEST(TargetTest, EveryMutationOfWhatIsNotThereIsRefusedBeforeItsVersion) {
  TestStore store;
  const Target target{"nowhere", "Cluster", {}};
  const ExpectedVersions version{engine::Position{1}};
  EXPECT_EQ(ReasonOf(store.Judge(PatchRequest{target, version, "{}", {}, "bob"})),
            RefusalReason::kNotFound);
  EXPECT_EQ(ReasonOf(store.Judge(DeleteRequest{target, version, "bob"})), RefusalReason::kNotFound);
  EXPECT_EQ(ReasonOf(store.Judge(ForceDeleteRequest{target, version, "bob", "why"})),
            RefusalReason::kNotFound);
}

TEST(TargetTest, AnotherVersionThanExpectedIsRefusedBeforeItsState) {
  TestStore store;
  const std::string id = store.Add("Cluster", "prod");
  const engine::Position old = store.Find(id)->position();
  store.Delete(id);
  const Target target{id, {}, {}};
  EXPECT_EQ(ReasonOf(store.Judge(PatchRequest{target, {old}, "{}", {}, "bob"})),
            RefusalReason::kVersionMismatch);
  EXPECT_EQ(ReasonOf(store.Judge(DeleteRequest{target, {old}, "bob"})),
            RefusalReason::kVersionMismatch);
  EXPECT_EQ(ReasonOf(store.Judge(ForceDeleteRequest{target, {old}, "bob", "why"})),
            RefusalReason::kVersionMismatch);
  const ExpectedVersions either{old, store.Find(id)->position()};
  EXPECT_FALSE(store.Judge(ForceDeleteRequest{target, either, "bob", "why"}).refusal.has_value());
}

}  // namespace
}  // namespace projections
