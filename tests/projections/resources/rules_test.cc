#include "projections/resources/rules.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/projections/resources/store.h"

namespace projections {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::UnorderedElementsAre;

EntityDescriptor Kind(std::string kind, std::string plural, std::string parent,
                      OnParentDelete policy, std::vector<std::string> adapters = {}) {
  EntityDescriptor entity;
  entity.kind = std::move(kind);
  entity.plural = std::move(plural);
  entity.parent_kind = std::move(parent);
  entity.on_parent_delete = policy;
  entity.required_adapters = std::move(adapters);
  return entity;
}

// Three levels: everything below Top cascades; what is below Middle restricts, cascades, or has to
// be finalized.
Registry ThreeLevels() {
  return *Registry::Create({Kind("Top", "tops", "", OnParentDelete::kUnset),
                            Kind("Middle", "middles", "Top", OnParentDelete::kCascade),
                            Kind("Lock", "locks", "Middle", OnParentDelete::kRestrict),
                            Kind("Leaf", "leaves", "Middle", OnParentDelete::kCascade),
                            Kind("Slow", "slows", "Middle", OnParentDelete::kCascade, {"x"})});
}

CreateRequest Creation(TestStore& store, std::string kind, std::string name,
                       std::string parent_id = {}) {
  return {.id = store.NextId(),
          .kind = std::move(kind),
          .name = std::move(name),
          .parent_id = std::move(parent_id),
          .spec = R"({"a":1})",
          .labels = {{"team", "x"}},
          .tenancy = {},
          .actor = "alice"};
}

PatchRequest Patch(std::string id, std::optional<std::string> spec,
                   std::optional<Labels> labels = {}) {
  return {{std::move(id), {}, {}}, {}, std::move(spec), std::move(labels), "bob"};
}

std::vector<std::string> KeysOf(const Judgement& judgement) {
  std::vector<std::string> keys;
  for (const engine::RecordDraft& draft : judgement.proposal.records) {
    keys.push_back(draft.key);
  }
  return keys;
}

// What the log says about a key, newest last: `state` or the cause of a tombstone.
schemas::RemovalCause CauseOf(const TestStore& store, std::string_view id) {
  for (auto record = store.log().rbegin(); record != store.log().rend(); ++record) {
    if (record->key == id) {
      const auto view = schemas::Decode(record->payload);
      const auto* tombstone = view->As<schemas::ResourceTombstone>();
      return tombstone == nullptr ? schemas::RemovalCause::kInvalid : tombstone->cause();
    }
  }
  return schemas::RemovalCause::kInvalid;
}

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
  EXPECT_EQ(judgement.proposal.records.size(), 3U);
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
