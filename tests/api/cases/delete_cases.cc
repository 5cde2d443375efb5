// Cases 63, 64, 66 and 70 to 72 of the resource API: deletion.

#include <set>

#include <gmock/gmock.h>

#include "engine/base/mutex.h"
#include "engine/base/thread.h"
#include "tests/api/cases/suites.h"

namespace cases {
namespace {

using testing::HasSubstr;

TEST_P(DeleteCases, ADeletedClusterIsFinalizingWithItsPools) {  // 63
  const std::string cluster = Text(MakeCluster(FreshName("del-")), "id");
  const std::string pool = Text(MakeNodePool(cluster, "pool"), "id");
  const Answer deleted = Call("DELETE", kBase + "/clusters/" + cluster);
  ASSERT_EQ(deleted.status, 202) << deleted.body;
  const api::JsonValue child = Get(kBase + "/nodepools/" + pool).Json();
  for (const api::JsonValue& resource : {deleted.Json(), child}) {
    EXPECT_NE(Text(resource, "deleted_time"), "");
    EXPECT_EQ(Text(resource, "deleted_by"), "system@hyperfleet.local");
    EXPECT_EQ(Text(resource, "generation"), "2");
    const api::JsonValue* reconciled = Condition(resource, "Reconciled");
    ASSERT_NE(reconciled, nullptr);
    EXPECT_EQ(Text(*reconciled, "status"), "False");
  }
}

TEST_P(DeleteCases, DeletingAgainChangesNothing) {  // 64
  const std::string cluster = Text(MakeCluster(FreshName("again-")), "id");
  const std::string pool = Text(MakeNodePool(cluster, "pool"), "id");
  const std::string path = kBase + "/clusters/" + cluster;
  const Answer first = Call("DELETE", path);
  const std::string child = Get(kBase + "/nodepools/" + pool).body;
  const std::uint64_t tx = Tx();
  const Answer second = Call("DELETE", path);
  EXPECT_EQ(second.status, 202);
  EXPECT_EQ(second.body, first.body);
  EXPECT_EQ(Get(kBase + "/nodepools/" + pool).body, child);
  EXPECT_EQ(Tx(), tx);
}

TEST_P(DeleteCases, DeletesAtOnceAgree) {  // 64
  const std::string path = kBase + "/clusters/" + Text(MakeCluster(FreshName("five-")), "id");
  engine::Mutex mutex;
  std::multiset<std::string> bodies;
  {
    std::vector<engine::Thread> threads;
    for (int i = 0; i < 5; ++i) {
      threads.emplace_back("deleter", [&] {
        const Answer deleted = Call("DELETE", path);
        engine::MutexLock lock(mutex);
        bodies.insert(std::to_string(deleted.status) + deleted.body);
      });
    }
  }
  ASSERT_EQ(bodies.size(), 5u);
  EXPECT_EQ(bodies.count(*bodies.begin()), 5u);
  EXPECT_THAT(*bodies.begin(), HasSubstr("\"generation\":2"));
  EXPECT_TRUE(bodies.begin()->starts_with("202"));
}

TEST_P(DeleteCases, NothingIsBornInAFinalizingParent) {  // 66
  const std::string cluster = Text(MakeCluster(FreshName("barren-")), "id");
  ASSERT_EQ(Call("DELETE", kBase + "/clusters/" + cluster).status, 202);
  const Answer refused = Call("POST", kBase + "/clusters/" + cluster + "/nodepools",
                              R"({"kind":"NodePool","name":"pool","spec":{}})");
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(Text(refused.Json(), "code"), "HYPERFLEET-CNF-003");
}

TEST_P(DeleteCases, ASiblingAndTheParentAreLeftAlone) {  // 69
  const std::string cluster = Text(MakeCluster(FreshName("sib-")), "id");
  const std::string going = Text(MakeNodePool(cluster, "going"), "id");
  const std::string staying = Text(MakeNodePool(cluster, "staying"), "id");
  const std::string parent = Get(kBase + "/clusters/" + cluster).body;
  const std::string sibling = Get(kBase + "/nodepools/" + staying).body;
  ASSERT_EQ(Call("DELETE", kBase + "/nodepools/" + going).status, 202);
  EXPECT_EQ(Get(kBase + "/clusters/" + cluster).body, parent);
  EXPECT_EQ(Get(kBase + "/nodepools/" + staying).body, sibling);
}

TEST_P(DeleteCases, AChannelWithActiveVersionsStays) {  // 70
  const std::string channel = kBase + "/channels/" + Text(MakeChannel(FreshName("res-")), "id");
  const std::string version =
      kBase + "/versions/" + Text(MakeVersion(channel.substr(channel.rfind('/') + 1), "v1"), "id");
  const std::string before = Get(channel).body;
  const Answer refused = Call("DELETE", channel);
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(Text(refused.Json(), "code"), "HYPERFLEET-CNF-003");
  EXPECT_THAT(Text(refused.Json(), "detail"), HasSubstr("active"));
  EXPECT_EQ(Get(channel).body, before);
  EXPECT_EQ(Call("DELETE", version).status, 202);
  EXPECT_EQ(Get(version).status, 404);
  const Answer deleted = Call("DELETE", channel);
  EXPECT_EQ(deleted.status, 202);
  EXPECT_NE(Text(deleted.Json(), "deleted_time"), "");
  EXPECT_EQ(Get(channel).status, 404);
}

TEST_P(DeleteCases, ANameIsFreeOnceDeleted) {  // 71
  const std::string name = FreshName("reuse-");
  const std::string first = Text(MakeCluster(name), "id");
  ASSERT_EQ(Call("DELETE", kBase + "/clusters/" + first).status, 202);
  const api::JsonValue second = MakeCluster(name);
  EXPECT_NE(Text(second, "id"), first);
  EXPECT_EQ(Text(second, "generation"), "1");
  const std::string gone = Text(MakeChannel(name), "id");
  ASSERT_EQ(Call("DELETE", kBase + "/channels/" + gone).status, 202);
  EXPECT_NE(Text(MakeChannel(name), "id"), gone);
}

TEST_P(DeleteCases, ForceDeleteRemovesTheSubtree) {  // 72
  const std::string cluster = Text(MakeCluster(FreshName("force-")), "id");
  const std::string pool = Text(MakeNodePool(cluster, "pool"), "id");
  const std::string path = kBase + "/clusters/" + cluster;
  const std::string body = R"({"reason":"stuck"})";
  const auto force = [&](const std::string& reason_body) {
    return Call("POST", path + "/force-delete", reason_body);
  };
  EXPECT_EQ(force(R"({"reason":""})").status, 400);
  EXPECT_EQ(force("{}").status, 400);
  EXPECT_EQ(force(R"({"reason":")" + std::string(1025, 'x') + "\"}").status, 400);
  EXPECT_EQ(
      Call("POST", kBase + "/clusters/01234567-89ab-7cde-8f01-23456789abcd/force-delete", body)
          .status,
      404);
  const Answer active = force(body);
  EXPECT_EQ(active.status, 409);
  EXPECT_EQ(Text(active.Json(), "code"), "HYPERFLEET-CNF-003");
  ASSERT_EQ(Call("DELETE", path).status, 202);
  const Answer forced = force(body);
  EXPECT_EQ(forced.status, 204);
  EXPECT_EQ(forced.body, "");
  EXPECT_EQ(Get(path).status, 404);
  EXPECT_EQ(Get(kBase + "/nodepools/" + pool).status, 404);
  EXPECT_EQ(force(body).status, 404);
}

TEST_P(DeleteCases, OfTwoCreatesOfANameOneWins) {
  const std::string body = R"({"kind":"Cluster","name":")" + FreshName("race-") + R"(","spec":{}})";
  engine::Mutex mutex;
  std::multiset<int> statuses;
  {
    std::vector<engine::Thread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back("creator", [&] {
        const int status = Call("POST", kBase + "/clusters", body).status;
        engine::MutexLock lock(mutex);
        statuses.insert(status);
      });
    }
  }
  EXPECT_EQ(statuses.count(201), 1u);
  EXPECT_EQ(statuses.count(409), 7u);
}

}  // namespace
}  // namespace cases
