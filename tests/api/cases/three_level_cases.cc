// Kinds that are three levels deep: deletion over all of them, and the paths of grandchildren.

#include <gmock/gmock.h>

#include "tests/api/cases/suites.h"

namespace cases {
namespace {

using testing::HasSubstr;

TEST_P(ThreeLevelCases, ACascadeWithNothingToWaitForRemovesAll) {
  const std::string region = Text(Make("/regions", "Region", FreshName("r-"), "{}"), "id");
  const std::string zone = Text(Make("/regions/" + region + "/zones", "Zone", "z", "{}"), "id");
  const std::string host = Text(Make("/zones/" + zone + "/hosts", "Host", "h", "{}"), "id");
  EXPECT_EQ(Call("DELETE", kBase + "/regions/" + region).status, 202);
  EXPECT_EQ(Get(kBase + "/regions/" + region).status, 404);
  EXPECT_EQ(Get(kBase + "/zones/" + zone).status, 404);
  EXPECT_EQ(Get(kBase + "/hosts/" + host).status, 404);
}

TEST_P(ThreeLevelCases, ARestrictTwoLevelsDownRollsAllBack) {
  const std::string region = Text(Make("/regions", "Region", FreshName("r-"), "{}"), "id");
  const std::string zone = Text(Make("/regions/" + region + "/zones", "Zone", "z", "{}"), "id");
  const std::string host = Text(Make("/zones/" + zone + "/hosts", "Host", "h", "{}"), "id");
  const std::string drive = Text(Make("/zones/" + zone + "/drives", "Drive", "d", "{}"), "id");
  const std::string lock = Text(Make("/zones/" + zone + "/locks", "Lock", "l", "{}"), "id");
  const std::uint64_t tx = Tx();
  const Answer refused = Call("DELETE", kBase + "/regions/" + region);
  EXPECT_EQ(refused.status, 409);
  EXPECT_EQ(Text(refused.Json(), "code"), "HYPERFLEET-CNF-003");
  EXPECT_THAT(Text(refused.Json(), "detail"), HasSubstr("active"));
  EXPECT_EQ(Tx(), tx);
  for (const std::string& path : {"/regions/" + region, "/zones/" + zone, "/hosts/" + host,
                                  "/drives/" + drive, "/locks/" + lock}) {
    const api::JsonValue document = Get(kBase + path).Json();
    EXPECT_EQ(Text(document, "generation"), "1") << path;
    EXPECT_EQ(Text(document, "deleted_time"), "") << path;
  }
  EXPECT_EQ(Call("DELETE", kBase + "/locks/" + lock).status, 202);
  EXPECT_EQ(Call("DELETE", kBase + "/regions/" + region).status, 202);
}

TEST_P(ThreeLevelCases, AGrandchildIsServedWhereItsHrefSays) {
  const std::string region = Text(Make("/regions", "Region", FreshName("r-"), "{}"), "id");
  const std::string other = Text(Make("/regions", "Region", FreshName("r-"), "{}"), "id");
  const std::string zones = "/regions/" + region + "/zones";
  const std::string zone = Text(Make(zones, "Zone", "z", "{}"), "id");
  const std::string hosts = zones + "/" + zone + "/hosts";
  const api::JsonValue host = Make(hosts, "Host", "h", "{}");
  const std::string path = kBase + hosts + "/" + Text(host, "id");
  EXPECT_EQ(Text(host, "href"), path);
  EXPECT_EQ(Get(path).body, Get(kBase + "/hosts/" + Text(host, "id")).body);
  EXPECT_EQ(Text(Get(kBase + hosts).Json(), "total"), "1");
  EXPECT_EQ(Call("PATCH", path, R"({"spec":{"a":1}})").status, 200);

  const std::string elsewhere = kBase + "/regions/" + other + "/zones/" + zone + "/hosts";
  const std::string body = R"({"kind":"Host","name":"h2","spec":{}})";
  EXPECT_EQ(Get(elsewhere).status, 404);
  EXPECT_EQ(Get(elsewhere + "/" + Text(host, "id")).status, 404);
  EXPECT_EQ(Call("POST", elsewhere, body).status, 404);
  EXPECT_EQ(Call("DELETE", elsewhere + "/" + Text(host, "id")).status, 404);
  EXPECT_EQ(Call("POST", kBase + hosts, body).status, 201);
  EXPECT_EQ(Call("DELETE", path).status, 202);
  EXPECT_EQ(Get(path).status, 404);
  EXPECT_EQ(Get(path + "/history").status, 200);
  EXPECT_EQ(Get(elsewhere + "/" + Text(host, "id") + "/history").status, 404);
}

TEST_P(ThreeLevelCases, OwnersGoWithTheLastThatTheyWaitFor) {
  const std::string region = Text(Make("/regions", "Region", FreshName("r-"), "{}"), "id");
  const std::string zone = Text(Make("/regions/" + region + "/zones", "Zone", "z", "{}"), "id");
  const std::string host = Text(Make("/zones/" + zone + "/hosts", "Host", "h", "{}"), "id");
  const std::string drive = Text(Make("/zones/" + zone + "/drives", "Drive", "d", "{}"), "id");
  ASSERT_EQ(Call("DELETE", kBase + "/regions/" + region).status, 202);
  // Hard or soft is decided for each: the host has nothing to wait for.
  EXPECT_EQ(Get(kBase + "/hosts/" + host).status, 404);
  for (const std::string& path : {"/regions/" + region, "/zones/" + zone, "/drives/" + drive}) {
    const api::JsonValue document = Get(kBase + path).Json();
    EXPECT_EQ(Text(document, "generation"), "2") << path;
    EXPECT_NE(Text(document, "deleted_time"), "") << path;
  }
  ASSERT_EQ(
      Call("POST", kBase + "/drives/" + drive + "/force-delete", R"({"reason":"stuck"})").status,
      204);
  for (const std::string& path : {"/regions/" + region, "/zones/" + zone, "/drives/" + drive}) {
    EXPECT_EQ(Get(kBase + path).status, 404) << path;
  }
}

}  // namespace
}  // namespace cases
