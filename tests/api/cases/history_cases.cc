// The history of one resource: who changed what.

#include <gmock/gmock.h>

#include "tests/api/cases/suites.h"

namespace cases {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Who acts where nobody is known.
constexpr char kSystem[] = "system@hyperfleet.local";

std::vector<std::string> MembersOf(const api::JsonValue& page, std::string_view member) {
  std::vector<std::string> texts;
  for (const api::JsonValue& item : Member(page, "items").as_array()) {
    texts.push_back(Text(item, member));
  }
  return texts;
}

const api::JsonValue& Item(const api::JsonValue& page, std::size_t index) {
  return Member(page, "items").as_array().at(index);
}

TEST_P(HistoryCases, ShowsEveryChangeNewestFirst) {
  const std::string id = Text(MakeCluster(FreshName("seen"), R"({"size":1})"), "id");
  const std::string path = kBase + "/clusters/" + id;
  EXPECT_EQ(AsAdmin("PATCH", path, R"({"spec":{"size":2}})").status, 200);
  EXPECT_EQ(Call("PATCH", path, R"({"labels":{"a":"b"}})").status, 200);
  EXPECT_EQ(AsAdmin("DELETE", path).status, 202);
  const Answer answer = Get(path + "/history");
  ASSERT_EQ(answer.status, 200) << answer.body;
  const api::JsonValue page = answer.Json();
  EXPECT_THAT(MembersOf(page, "action"), ElementsAre("delete", "patch", "patch", "create"));
  EXPECT_THAT(MembersOf(page, "generation"), ElementsAre("4", "3", "2", "1"));
  EXPECT_THAT(MembersOf(page, "actor"), ElementsAre("ops", kSystem, "ops", kSystem));
  EXPECT_EQ(Text(page, "complete"), "true");
  EXPECT_EQ(Text(Member(Item(page, 3), "resource"), "spec"), R"({"size":1})");
  EXPECT_EQ(Text(Member(Item(page, 2), "resource"), "spec"), R"({"size":2})");
  EXPECT_EQ(Text(Member(Item(page, 1), "resource"), "labels"), R"({"a":"b"})");
  EXPECT_EQ(Text(Member(Item(page, 0), "resource"), "deleted_by"), "ops");
  EXPECT_EQ(Text(Item(page, 3), "time"), Text(Member(Item(page, 3), "resource"), "created_time"));
}

TEST_P(HistoryCases, IsPaged) {
  const std::string id = Text(MakeChannel(FreshName("paged")), "id");
  const std::string path = kBase + "/channels/" + id;
  for (int i = 0; i < 4; ++i) {
    EXPECT_EQ(Call("PATCH", path, "{\"spec\":{\"n\":" + std::to_string(i) + "}}").status, 200);
  }
  std::vector<std::string> generations;
  std::string target = path + "/history?limit=2";
  api::JsonValue page;
  for (int i = 0; i < 3; ++i) {
    page = Get(target).Json();
    for (const std::string& generation : MembersOf(page, "generation")) {
      generations.push_back(generation);
    }
    EXPECT_EQ(Text(page, "complete"), i == 2 ? "true" : "false");
    target = path + "/history?limit=2&cursor=" + Text(page, "next");
  }
  EXPECT_THAT(generations, ElementsAre("5", "4", "3", "2", "1"));
  EXPECT_EQ(Text(page, "next"), "");
}

TEST_P(HistoryCases, OutlivesTheResource) {
  const std::string channel = Text(MakeChannel(FreshName("gone")), "id");
  const std::string version = Text(MakeVersion(channel, FreshName("v")), "id");
  const std::string path = kBase + "/channels/" + channel + "/versions/" + version;
  EXPECT_EQ(Call("DELETE", path).status, 202);
  EXPECT_EQ(Get(path).status, 404);
  for (const std::string& shown :
       {path, kBase + "/versions/" + version, kBase + "/resources/" + version}) {
    const Answer answer = Get(shown + "/history");
    ASSERT_EQ(answer.status, 200) << shown << answer.body;
    EXPECT_THAT(MembersOf(answer.Json(), "action"), ElementsAre("remove", "create")) << shown;
    EXPECT_EQ(Text(Member(Item(answer.Json(), 0), "removal"), "cause"), "deleted");
  }
  EXPECT_EQ(Get(kBase + "/clusters/" + version + "/history").status, 404);
  const std::string other = Text(MakeChannel(FreshName("other")), "id");
  EXPECT_EQ(Get(kBase + "/channels/" + other + "/versions/" + version + "/history").status, 404);
}

TEST_P(HistoryCases, AForcedRemovalSaysWhy) {
  const std::string id = Text(MakeCluster(FreshName("forced")), "id");
  const std::string path = kBase + "/clusters/" + id;
  EXPECT_EQ(Call("DELETE", path).status, 202);
  EXPECT_EQ(AsAdmin("POST", path + "/force-delete", R"({"reason":"stuck"})").status, 204);
  const api::JsonValue page = Get(path + "/history").Json();
  EXPECT_THAT(MembersOf(page, "action"), ElementsAre("remove", "delete", "create"));
  EXPECT_THAT(MembersOf(page, "actor"), ElementsAre("ops", kSystem, kSystem));
  EXPECT_EQ(Text(Member(Item(page, 0), "removal"), "cause"), "forced");
  EXPECT_EQ(Text(Member(Item(page, 0), "removal"), "reason"), "stuck");
}

TEST_P(HistoryCases, WhatNeverWasHasNone) {
  const std::string nobody = "/01930000-0000-7000-8000-000000000000/history";
  for (const std::string kind : {"/clusters", "/resources", "/versions"}) {
    const Answer answer = Get(kBase + kind + nobody);
    EXPECT_EQ(answer.status, 404);
    EXPECT_THAT(answer.body, HasSubstr("HYPERFLEET-NTF-001"));
  }
}

TEST_P(HistoryCases, ABadPageIsRefused) {
  const std::string id = Text(MakeChannel(FreshName("bad")), "id");
  const std::string other = Text(MakeChannel(FreshName("bad")), "id");
  const std::string path = kBase + "/channels/" + id + "/history";
  EXPECT_EQ(Call("PATCH", kBase + "/channels/" + other, R"({"spec":{"n":1}})").status, 200);
  const std::string foreign =
      Text(Get(kBase + "/channels/" + other + "/history?limit=1").Json(), "next");
  ASSERT_THAT(foreign, Not(""));
  for (const std::string& query :
       {std::string("limit=0"), std::string("limit=101"), std::string("limit=x"),
        std::string("cursor=1"), std::string("cursor="), "cursor=" + foreign}) {
    const Answer answer = Get(path + "?" + query);
    EXPECT_EQ(answer.status, 400) << query;
    EXPECT_THAT(answer.body, HasSubstr("HYPERFLEET-VAL-000"));
  }
}

}  // namespace
}  // namespace cases
