// Cases 20 to 25 of the resource API: PATCH.

#include <gmock/gmock.h>

#include "tests/api/cases/suites.h"

namespace cases {
namespace {

using testing::HasSubstr;

TEST_P(PatchCases, ASpecIsReplaced) {  // 20
  const std::string path =
      kBase + "/clusters/" + Text(MakeCluster(FreshName("spec-"), R"({"old":true})"), "id");
  const Answer patched = Call("PATCH", path, R"({"spec":{"region":"eu","provider":"aws"}})");
  ASSERT_EQ(patched.status, 200) << patched.body;
  EXPECT_EQ(Text(patched.Json(), "generation"), "2");
  EXPECT_EQ(Text(patched.Json(), "spec"), R"({"provider":"aws","region":"eu"})");
  const api::JsonValue* reconciled = nullptr;
  const api::JsonValue document = patched.Json();
  reconciled = Condition(document, "Reconciled");
  ASSERT_NE(reconciled, nullptr);
  EXPECT_EQ(Text(*reconciled, "observed_generation"), "2");
}

TEST_P(PatchCases, LabelsAreReplaced) {  // 21
  const std::string path = kBase + "/clusters/" + Text(MakeCluster(FreshName("labels-")), "id");
  const Answer first = Call("PATCH", path, R"({"labels":{"a":"1","b":"2"}})");
  EXPECT_EQ(first.status, 200);
  EXPECT_EQ(Text(first.Json(), "generation"), "2");
  EXPECT_EQ(Text(first.Json(), "labels"), R"({"a":"1","b":"2"})");
  const Answer second = Call("PATCH", path, R"({"labels":{"c":"3"}})");
  EXPECT_EQ(Text(second.Json(), "labels"), R"({"c":"3"})");
  const Answer cleared = Call("PATCH", path, R"({"labels":{}})");
  EXPECT_EQ(Text(cleared.Json(), "generation"), "4");
  EXPECT_TRUE(Member(cleared.Json(), "labels").is_null()) << cleared.body;
}

TEST_P(PatchCases, TheSameAgainChangesNothing) {  // 22
  const std::string path = kBase + "/clusters/" + Text(MakeCluster(FreshName("same-")), "id");
  const std::string body = R"({"spec":{"a":1,"b":[1,2]}})";
  const Answer first = Call("PATCH", path, body);
  const std::uint64_t tx = Tx();
  const Answer second = Call("PATCH", path, R"({"spec":{"b":[1,2],"a":1.0}})");
  EXPECT_EQ(second.status, 200);
  EXPECT_EQ(second.body, first.body);
  EXPECT_EQ(second.Header("etag"), first.Header("etag"));
  EXPECT_EQ(Tx(), tx);
}

TEST_P(PatchCases, OnlySpecAndLabelsCanBePatched) {  // 23
  const std::string path = kBase + "/clusters/" + Text(MakeCluster(FreshName("keys-")), "id");
  for (const std::string body : {"{}", R"({"spec":null,"labels":null})"}) {
    const Answer refused = Call("PATCH", path, body);
    EXPECT_EQ(refused.status, 400);
    EXPECT_EQ(Text(refused.Json(), "code"), "HYPERFLEET-VAL-005") << body;
  }
  for (const std::string body : {R"({"name":"new","spec":{}})", R"({"kind":"Channel"})",
                                 R"({"tenancy":{},"spec":{}})", "[]", ""}) {
    const Answer refused = Call("PATCH", path, body);
    EXPECT_EQ(refused.status, 400);
    EXPECT_EQ(Text(refused.Json(), "code"), "HYPERFLEET-VAL-006") << body;
  }
}

TEST_P(PatchCases, WhatIsBeingDeletedStaysAsItIs) {  // 24
  const std::string cluster = Text(MakeCluster(FreshName("gone-")), "id");
  const std::string pool = Text(MakeNodePool(cluster, "pool"), "id");
  ASSERT_EQ(Call("DELETE", kBase + "/clusters/" + cluster).status, 202);
  for (const std::string& path :
       {"/clusters/" + cluster, "/clusters/" + cluster + "/nodepools/" + pool}) {
    const Answer refused = Call("PATCH", kBase + path, R"({"spec":{"a":1}})");
    EXPECT_EQ(refused.status, 409);
    EXPECT_EQ(Text(refused.Json(), "code"), "HYPERFLEET-CNF-003");
    EXPECT_THAT(Text(refused.Json(), "detail"), HasSubstr("marked for deletion"));
  }
}

TEST_P(PatchCases, WhatIsGoneIsNotFound) {  // 25
  const std::string path = kBase + "/channels/" + Text(MakeChannel(FreshName("gone-")), "id");
  ASSERT_EQ(Call("DELETE", path).status, 202);
  EXPECT_EQ(Call("PATCH", path, R"({"spec":{"a":1}})").status, 404);
}

}  // namespace
}  // namespace cases
