// Pairs of requests of one batch: whoever could tell that the other came first must conflict.

#include "projections/resources/facts.h"

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/projections/resources/requests.h"
#include "tests/projections/resources/store.h"

namespace projections {
namespace {

PatchRequest Patch(std::string id) {
  return projections::Patch(std::move(id), R"({"p":1})");
}
DeleteRequest Deletion(std::string id) {
  return {{std::move(id), {}, {}}, {}, "carol"};
}
ForceDeleteRequest Force(std::string id) {
  return {{std::move(id), {}, {}}, {}, "dave", "stuck"};
}

// Whether the second would have to wait for the next batch. Both see the same committed state.
template <typename First, typename Second>
bool Conflict(TestStore& store, const First& first, const Second& second) {
  engine::ChangedFacts changed;
  store.Judge(first);
  changed.Add(store.footprint());
  store.Judge(second);
  return changed.Touch(store.footprint());
}
template <typename A, typename B>
void ExpectConflict(TestStore& store, const A& a, const B& b) {
  EXPECT_TRUE(Conflict(store, a, b));
  EXPECT_TRUE(Conflict(store, b, a));
}
template <typename A, typename B>
void ExpectNoConflict(TestStore& store, const A& a, const B& b) {
  EXPECT_FALSE(Conflict(store, a, b));
  EXPECT_FALSE(Conflict(store, b, a));
}

class FootprintTest : public testing::Test {
 protected:
  TestStore store_;
  const std::string cluster_ = store_.Add("Cluster", "prod");
  const std::string pool_ = store_.Add("NodePool", "np-1", cluster_);
  const std::string other_ = store_.Add("Cluster", "test");
  const std::string channel_ = store_.Add("Channel", "stable");
};

TEST_F(FootprintTest, TwoCreatesOfOneName) {
  ExpectConflict(store_, Creation(store_, "Cluster", "new"), Creation(store_, "Cluster", "new"));
  ExpectConflict(store_, Creation(store_, "NodePool", "np-9", cluster_),
                 Creation(store_, "NodePool", "np-9", cluster_));
  ExpectNoConflict(store_, Creation(store_, "Cluster", "new"), Creation(store_, "Cluster", "now"));
  ExpectNoConflict(store_, Creation(store_, "Cluster", "new"), Creation(store_, "Channel", "new"));
  ExpectNoConflict(store_, Creation(store_, "NodePool", "np-9", cluster_),
                   Creation(store_, "NodePool", "np-9", other_));
}

TEST_F(FootprintTest, ACreateAndTheDeleteThatFreesItsName) {
  // The create is refused as things are; after the delete it would not be.
  EXPECT_TRUE(Conflict(store_, Deletion(cluster_), Creation(store_, "Cluster", "prod")));
  EXPECT_TRUE(Conflict(store_, Deletion(cluster_), Creation(store_, "NodePool", "np-1", cluster_)));
  EXPECT_TRUE(Conflict(store_, Deletion(channel_), Creation(store_, "Channel", "stable")));
}

TEST_F(FootprintTest, ACascadeAndACreatedChild) {
  ExpectConflict(store_, Deletion(cluster_), Creation(store_, "NodePool", "np-2", cluster_));
  ExpectNoConflict(store_, Deletion(cluster_), Creation(store_, "NodePool", "np-2", other_));
}

TEST_F(FootprintTest, ACascadeAndAPatchOrDeleteOfAChild) {
  ExpectConflict(store_, Deletion(cluster_), Patch(pool_));
  ExpectConflict(store_, Deletion(cluster_), Deletion(pool_));
}

TEST_F(FootprintTest, ADeleteAndAPatchOrAnotherDelete) {
  ExpectConflict(store_, Deletion(cluster_), Patch(cluster_));
  ExpectConflict(store_, Deletion(cluster_), Deletion(cluster_));
  ExpectConflict(store_, Patch(cluster_), Patch(cluster_));
  ExpectNoConflict(store_, Deletion(cluster_), Patch(other_));
}

TEST_F(FootprintTest, ARestrictAndItsChildren) {
  ExpectConflict(store_, Deletion(channel_), Creation(store_, "Version", "v1", channel_));
  const std::string version = store_.Add("Version", "v1", channel_);
  // The delete of the channel is refused as things are; without the version it would not be.
  EXPECT_TRUE(Conflict(store_, Deletion(version), Deletion(channel_)));
  // That a child was patched makes no difference to the refusal.
  ExpectNoConflict(store_, Deletion(channel_), Patch(version));
}

TEST_F(FootprintTest, AForceDeleteAndEverythingBelowIt) {
  store_.Delete(cluster_);
  ExpectConflict(store_, Force(cluster_), Force(pool_));
  ExpectConflict(store_, Force(cluster_), Force(cluster_));
  // Both rest on committed state: the child create is refused whichever is first, but for
  // another reason.
  EXPECT_TRUE(Conflict(store_, Force(cluster_), Creation(store_, "NodePool", "np-2", cluster_)));
  EXPECT_TRUE(Conflict(store_, Force(cluster_), Deletion(cluster_)));
  ExpectNoConflict(store_, Force(cluster_), Creation(store_, "Cluster", "prod"));
}

TEST_F(FootprintTest, TheLastTwoChildrenOfAFinalizingOwner) {
  // Each alone leaves the owner with the other; together they must take it along.
  EntityDescriptor top;
  top.kind = "Top";
  top.plural = "tops";
  EntityDescriptor slow;
  slow.kind = "Slow";
  slow.plural = "slows";
  slow.parent_kind = "Top";
  slow.on_parent_delete = OnParentDelete::kCascade;
  slow.required_adapters = {"x"};
  TestStore store(*Registry::Create({top, slow}));
  const std::string owner = store.Add("Top", "t");
  const std::string a = store.Add("Slow", "a", owner);
  const std::string b = store.Add("Slow", "b", owner);
  store.Delete(owner);
  ExpectConflict(store, Force(a), Force(b));
}

TEST_F(FootprintTest, AReadOfTheParentOnTheWayToAChild) {
  store_.Delete(cluster_);
  PatchRequest nested = Patch(pool_);
  nested.target = {pool_, "NodePool", cluster_};
  EXPECT_TRUE(Conflict(store_, Force(cluster_), nested));
}

TEST_F(FootprintTest, AReferenceAndTheDeletionOfItsTarget) {
  TestStore store(WithReferences());
  const std::string a = store.Add("RefTarget", "a");
  const std::string b = store.Add("RefTarget", "b");
  const std::string source = store.Add("OptSource", "s");
  const std::string part = store.Add("Part", "p", a);
  CreateRequest create = Creation(store, "OptSource", "t");
  create.references = To("link", "RefTarget", {a});
  ExpectConflict(store, create, Deletion(a));
  ExpectNoConflict(store, create, Deletion(b));
  ExpectConflict(store, PatchReferences(source, To("link", "RefTarget", {a})), Deletion(a));
  ExpectConflict(store, PatchReferences(source, To("part", "Part", {part})), Deletion(a));
  ExpectNoConflict(store, PatchReferences(source, To("link", "RefTarget", {b})), Deletion(a));

  store.Do(PatchReferences(source, To("link", "RefTarget", {a})));
  // The delete is refused as things are; without the reference it would not be.
  EXPECT_TRUE(Conflict(store, PatchReferences(source, {}), Deletion(a)));
  EXPECT_TRUE(Conflict(store, Deletion(source), Deletion(a)));
  // That something else of a source was patched makes no difference to the refusal.
  ExpectNoConflict(store, Patch(source), Deletion(a));
}

TEST_F(FootprintTest, UnrelatedResourcesShareABatch) {
  ExpectNoConflict(store_, Patch(cluster_), Patch(pool_));
  ExpectNoConflict(store_, Patch(cluster_), Deletion(other_));
  ExpectNoConflict(store_, Creation(store_, "NodePool", "np-2", cluster_),
                   Creation(store_, "NodePool", "np-3", cluster_));
}

}  // namespace
}  // namespace projections
