// Kills (C28, C31) and who may do them.

#include <algorithm>

#include <gmock/gmock.h>

#include "tests/api/cases/suites.h"

namespace cases {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kReason = R"({"reason":"it breaks things"})";

// The entry of the kill list; null when it is not killed.
api::JsonValue Killed(const Answer& list, const std::string& name) {
  const api::JsonValue json = list.Json();
  for (const api::JsonValue& entry : Member(json, "killed").get_array()) {
    if (Text(entry, "experiment") == name) {
      return entry;
    }
  }
  return {};
}

TEST_P(KillCases, AKillChangesThingsOnce) {  // C28
  const std::string name = FreshName("exp-");
  const std::string path = "/api/v1/experiments/" + name;
  const Answer killed = AsAdmin("POST", path + "/kill", kReason);
  ASSERT_EQ(killed.status, 200) << killed.body;
  EXPECT_EQ(killed.body, R"({"experiment":")" + name + R"(","killed":true,"changed":true})");
  const Answer list = AsAdmin("GET", "/api/v1/killswitch");
  const api::JsonValue entry = Killed(list, name);
  EXPECT_EQ(Text(entry, "by"), kAdminName);
  EXPECT_EQ(Text(entry, "reason"), "it breaks things");
  EXPECT_EQ(Text(entry, "killed"), "true");
  EXPECT_THAT(Text(entry, "at"), HasSubstr("T"));
  const std::string total = Text(AsAdmin("GET", "/api/v1/audit?limit=1").Json(), "total");
  const std::uint64_t tx = Tx();
  const Answer again = AsAdmin("POST", path + "/kill", R"({"reason":"another"})");
  EXPECT_EQ(again.body, R"({"experiment":")" + name + R"(","killed":true,"changed":false})");
  EXPECT_EQ(AsAdmin("GET", "/api/v1/killswitch").body, list.body);
  EXPECT_EQ(Text(AsAdmin("GET", "/api/v1/audit?limit=1").Json(), "total"), total);
  EXPECT_EQ(Tx(), tx);
  const Answer lifted = AsAdmin("POST", path + "/unkill");
  EXPECT_EQ(lifted.body, R"({"experiment":")" + name + R"(","killed":false,"changed":true})");
  EXPECT_TRUE(Killed(AsAdmin("GET", "/api/v1/killswitch"), name).is_null());
}

TEST_P(KillCases, WhatIsNotKilledCanBeUnkilled) {  // C28
  const std::string name = FreshName("gone-");
  const Answer lifted = AsAdmin("POST", "/api/v1/experiments/" + name + "/unkill", "{}");
  EXPECT_EQ(lifted.status, 200);
  EXPECT_THAT(lifted.body, HasSubstr("\"changed\":false"));
}

TEST_P(KillCases, TogglesHaveNamesOfTheirOwn) {
  const std::string name = FreshName("tog-");
  const Answer killed = AsAdmin("POST", "/api/v1/toggles/" + name + "/kill", kReason);
  EXPECT_EQ(killed.body, R"({"toggle":")" + name + R"(","killed":true,"changed":true})");
  const Answer list = AsAdmin("GET", "/api/v1/killswitch");
  EXPECT_FALSE(Killed(list, "toggle:" + name).is_null());
  EXPECT_TRUE(Killed(list, name).is_null());
  const Answer entries = AsAdmin("GET", "/api/v1/audit?action=toggle.kill");
  EXPECT_THAT(entries.body, HasSubstr("\"target\":\"" + name + "\""));
}

TEST_P(KillCases, EveryServerShowsTheSameVersion) {  // C31
  for (int i = 0; i < 6; ++i) {
    const int server = i % world().servers();
    const std::string name = FreshName("mix-");
    AsAdmin("POST", "/api/v1/experiments/" + name + "/kill", kReason, server);
    if (i % 3 == 0) {
      AsAdmin("POST", "/api/v1/experiments/" + name + "/unkill", "",
              (server + 1) % world().servers());
    }
  }
  const std::string first = AsAdmin("GET", "/api/v1/killswitch").body;
  for (int server = 1; server < world().servers(); ++server) {
    EXPECT_EQ(AsAdmin("GET", "/api/v1/killswitch", "", server).body, first);
  }
}

TEST_P(KillCases, AReasonIsRequiredAndBounded) {
  const std::string path = "/api/v1/experiments/" + FreshName("why-");
  const auto kill = [&](const std::string& body) {
    return AsAdmin("POST", path + "/kill", body).status;
  };
  const std::uint64_t tx = Tx();
  EXPECT_EQ(kill("{}"), 422);
  EXPECT_EQ(kill(R"({"reason":"  "})"), 422);
  EXPECT_EQ(kill(R"({"reason":")" + std::string(501, 'x') + "\"}"), 422);
  EXPECT_EQ(kill("{"), 400);
  EXPECT_EQ(kill("[]"), 400);
  EXPECT_EQ(kill(R"({"reason":1})"), 400);
  EXPECT_EQ(kill(R"({"reason":"x","pad":")" + std::string(2048, 'x') + "\"}"), 413);
  EXPECT_EQ(Tx(), tx);
  EXPECT_EQ(kill(R"({"reason":")" + std::string(500, 'x') + "\"}"), 200);
}

TEST_P(KillCases, NamesHaveARule) {
  const std::uint64_t tx = Tx();
  for (const std::string name : {"Upper", "-dash", "toggle:x", "a%20b", "%C3%A4"}) {
    EXPECT_EQ(AsAdmin("POST", "/api/v1/experiments/" + name + "/kill", kReason).status, 400)
        << name;
  }
  EXPECT_EQ(
      AsAdmin("POST", "/api/v1/experiments/" + std::string(64, 'a') + "/kill", kReason).status,
      400);
  EXPECT_EQ(Tx(), tx);
}

TEST_P(KillCases, OnlyOperatorsMay) {
  const std::string path = "/api/v1/experiments/" + FreshName("who-") + "/kill";
  const std::uint64_t tx = Tx();
  const Answer nobody = Call("POST", path, kReason);
  EXPECT_EQ(nobody.status, 401);
  EXPECT_EQ(Text(nobody.Json(), "error"), "login required");
  EXPECT_EQ(nobody.Header("www-authenticate"), "Bearer");
  const std::string token(kAdminToken);
  for (const std::string& credential : {std::string("Bearer wrong"), "bearer " + token, token,
                                        "Basic " + token, "Bearer " + token + "x"}) {
    EXPECT_EQ(Call("POST", path, kReason, {{"Authorization", credential}}).status, 401)
        << credential;
  }
  for (const std::string target : {"/api/v1/killswitch", "/api/v1/audit", "/api/v1/streams"}) {
    EXPECT_EQ(Get(target).status, 401) << target;
  }
  EXPECT_EQ(Tx(), tx);
}

TEST_P(KillCases, OtherOriginsMayNot) {
  const std::string path = "/api/v1/experiments/" + FreshName("origin-") + "/kill";
  const std::pair<std::string, std::string> token = {"Authorization",
                                                     "Bearer " + std::string(kAdminToken)};
  const std::uint64_t tx = Tx();
  for (const Headers& headers :
       {Headers{token, {"Origin", "https://evil.example"}}, Headers{token, {"Origin", "null"}},
        Headers{token, {"Sec-Fetch-Site", "cross-site"}},
        Headers{token, {"Sec-Fetch-Site", "same-site"}}}) {
    const Answer refused = Call("POST", path, kReason, headers);
    EXPECT_EQ(refused.status, 403);
    EXPECT_EQ(Text(refused.Json(), "error"), "cross-origin request rejected");
  }
  EXPECT_EQ(Tx(), tx);
  EXPECT_EQ(Call("GET", "/api/v1/killswitch", "", {token, {"Sec-Fetch-Site", "cross-site"}}).status,
            200);
  EXPECT_EQ(Call("POST", path, kReason, {token, {"Sec-Fetch-Site", "same-origin"}}).status, 200);
}

TEST_P(KillCases, AnswersCarryTheHeadersOfTheFamily) {
  const Answer answer = AsAdmin("GET", "/api/v1/killswitch");
  EXPECT_EQ(answer.Header("x-content-type-options"), "nosniff");
  EXPECT_EQ(answer.Header("x-frame-options"), "DENY");
  EXPECT_EQ(answer.Header("referrer-policy"), "no-referrer");
  EXPECT_EQ(answer.Header("cache-control"), "no-store");
  EXPECT_THAT(answer.Header("content-security-policy"), HasSubstr("default-src 'self'"));
  EXPECT_THAT(answer.Header("x-request-id"), Not(""));
}

}  // namespace
}  // namespace cases
