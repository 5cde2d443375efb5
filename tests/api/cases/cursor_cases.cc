// X-Halo-Cursor, and what a client that shows one is promised.

#include <gmock/gmock.h>

#include "tests/api/cases/suites.h"

namespace cases {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr char kAtLeast[] = "X-Halo-At-Least";

TEST_P(CursorCases, EveryAnswerOfTheStoreHasOne) {
  const api::JsonValue channel = MakeChannel(FreshName("has"));
  const std::string path = kBase + "/channels/" + Text(channel, "id");
  for (const std::string& target :
       {path, path + "/history", kBase + "/channels", kBase + "/channels/x"}) {
    EXPECT_THAT(Get(target).Header("x-halo-cursor"), Not("")) << target;
  }
  for (const std::string target : {"/api/v1/killswitch", "/api/v1/streams", "/api/v1/audit"}) {
    EXPECT_THAT(AsAdmin("GET", target).Header("x-halo-cursor"), Not("")) << target;
  }
  EXPECT_THAT(Call("PATCH", path, R"({"spec":{"a":1}})").Header("x-halo-cursor"), Not(""));
  EXPECT_THAT(Call("DELETE", path).Header("x-halo-cursor"), Not(""));
}

TEST_P(CursorCases, AReadSeesWhatTheCursorSawOnEveryServerWithoutAsking) {
  for (int i = 0; i < 10; ++i) {
    const Answer made = Call("POST", kBase + "/channels",
                             R"({"kind":"Channel","spec":{},"name":")" + FreshName("seen") + "\"}");
    ASSERT_EQ(made.status, 201);
    const std::string path = kBase + "/channels/" + Text(made.Json(), "id");
    for (int server = 0; server < world().servers(); ++server) {
      const Answer seen = CallServer(server, "GET", path + "?freshness=cached", "",
                                     {{kAtLeast, made.Header("x-halo-cursor")}});
      EXPECT_EQ(seen.status, 200) << seen.body;
    }
  }
}

TEST_P(CursorCases, AnOldOneIsGood) {
  const Answer old = Get(kBase + "/channels");
  const std::string id = Text(MakeChannel(FreshName("later")), "id");
  const Headers headers = {{kAtLeast, old.Header("x-halo-cursor")}};
  EXPECT_EQ(Call("GET", kBase + "/channels/" + id, "", headers).status, 200);
}

TEST_P(CursorCases, OneOfTheAuditIsGoodForResources) {
  MakeChannel(FreshName("audited"));
  const Headers headers = {{kAtLeast, AsAdmin("GET", "/api/v1/audit").Header("x-halo-cursor")}};
  EXPECT_EQ(Call("GET", kBase + "/channels?freshness=cached", "", headers).status, 200);
}

TEST_P(CursorCases, WhatIsNoCursorIsRefused) {
  std::string changed = Get(kBase + "/channels").Header("x-halo-cursor");
  changed[changed.size() / 2] = changed[changed.size() / 2] == 'A' ? 'B' : 'A';
  for (const std::string& text : {std::string("17"), std::string(), changed}) {
    const Answer answer = Call("GET", kBase + "/channels", "", {{kAtLeast, text}});
    EXPECT_EQ(answer.status, 400) << text;
    EXPECT_THAT(answer.body, HasSubstr("HYPERFLEET-VAL-000"));
  }
}

}  // namespace
}  // namespace cases
