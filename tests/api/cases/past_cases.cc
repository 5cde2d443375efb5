// as_of: resources as they were.

#include <gmock/gmock.h>

#include "tests/api/cases/suites.h"

namespace cases {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

TEST_P(PastCases, ShowsAResourceAsItWasAtATransaction) {
  const std::string id = Text(MakeChannel(FreshName("was")), "id");
  const std::string path = kBase + "/channels/" + id;
  const std::uint64_t made = Tx();
  ASSERT_EQ(Call("PATCH", path, R"({"spec":{"n":2}})").status, 200);
  const std::uint64_t patched = Tx();
  ASSERT_EQ(Call("DELETE", path).status, 202);
  ASSERT_EQ(Get(path).status, 404);
  const auto as_of = [&](std::uint64_t tx) {
    return AsAdmin("GET", path + "?as_of=" + std::to_string(tx));
  };
  EXPECT_EQ(Text(as_of(made).Json(), "generation"), "1");
  EXPECT_EQ(Text(as_of(patched).Json(), "spec"), R"({"n":2})");
  EXPECT_EQ(as_of(made - 1).status, 404);
  EXPECT_EQ(as_of(0).status, 404);
  EXPECT_EQ(as_of(patched).Header("x-halo-tx"), std::to_string(patched));
}

TEST_P(PastCases, ShowsListsAsTheyWereAtATime) {
  const std::string channel = Text(MakeChannel(FreshName("owner")), "id");
  const std::string path = kBase + "/channels/" + channel + "/versions";
  const api::JsonValue first = MakeVersion(channel, FreshName("v"));
  const api::JsonValue second = MakeVersion(channel, FreshName("v"));
  const Answer then = AsAdmin("GET", path + "?as_of=" + Text(first, "created_time"));
  ASSERT_EQ(then.status, 200) << then.body;
  EXPECT_EQ(Text(then.Json(), "total"), "1");
  EXPECT_THAT(Names(then.Json()), Contains(Text(first, "name")));
  const Answer later = AsAdmin("GET", path + "?as_of=" + Text(second, "created_time"));
  EXPECT_EQ(Text(later.Json(), "total"), "2");
  EXPECT_EQ(Text(Get(path).Json(), "total"), "2") << "the present is as it was";
  const Answer before = AsAdmin("GET", kBase + "/channels?as_of=2001-01-01T00:00:00Z");
  EXPECT_EQ(Text(before.Json(), "total"), "0");
}

TEST_P(PastCases, RefusesWhatCannotBe) {
  const std::string path = kBase + "/channels?as_of=";
  for (const std::string& point :
       {std::string("x"), std::string(), std::string("-1"), std::string("2026-13-01T00:00:00Z"),
        std::string("99999999"), std::string("2999-01-01T00:00:00Z")}) {
    const Answer answer = AsAdmin("GET", path + point);
    EXPECT_EQ(answer.status, 400) << point;
    EXPECT_THAT(answer.body, HasSubstr("HYPERFLEET-VAL-000"));
  }
  EXPECT_EQ(Get(path + "1").status, 403);
  EXPECT_EQ(AsAdmin("GET", "/api/v1/audit").status, 200);
  EXPECT_EQ(AsAdmin("GET", "/api/v1/streams/audit/records?as_of=1").status, 400);
}

}  // namespace
}  // namespace cases
