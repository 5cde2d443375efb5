// The audit (C34, C36, C37; C35 is where rows can be changed) and the streams.

#include <gmock/gmock.h>

#include "engine/audit_chain.h"
#include "engine/base/thread.h"
#include "tests/api/cases/suites.h"

namespace cases {
namespace {

using testing::HasSubstr;

const api::JsonArray& Entries(const api::JsonValue& page) {
  return Member(page, "entries").get_array();
}

// The bytes that an entry's hash was taken over.
std::string Hashed(const api::JsonValue& entry, const std::string& page) {
  const std::string hash = Text(entry, "hash");
  const std::size_t end = page.find(hash + "\"}");
  const std::size_t begin = page.rfind("{\"seq\":" + Text(entry, "seq") + ",", end);
  return page.substr(begin, end - begin) + "\"}";
}

TEST_P(AuditCases, AMutationAndItsEntryAreOne) {
  const Answer made =
      AsAdmin("POST", kBase + "/clusters",
              R"({"kind":"Cluster","name":")" + FreshName("aud-") + R"(","spec":{}})");
  ASSERT_EQ(made.status, 201);
  const Answer page = AsAdmin("GET", "/api/v1/audit?limit=1&action=resource.create&actor=ops");
  const api::JsonValue json = page.Json();
  ASSERT_EQ(Entries(json).size(), 1u);
  const api::JsonValue& entry = Entries(json)[0];
  EXPECT_EQ(Text(entry, "target"), "clusters/" + Text(made.Json(), "id"));
  EXPECT_EQ(Text(entry, "requestId"), made.Header("x-request-id"));
  EXPECT_EQ(Text(entry, "time"), Text(made.Json(), "created_time"));
  EXPECT_THAT(Text(Member(entry, "details"), "halo.records"), HasSubstr("resources:"));
  EXPECT_EQ(Text(Member(entry, "details"), "halo.sha256").size(), 64u);
  EXPECT_EQ(engine::AuditHash(Hashed(entry, page.body)), Text(entry, "hash"));
  EXPECT_EQ(Text(json, "verified"), "true");
}

TEST_P(AuditCases, WritersOfAllServersMakeOneChain) {  // C34
  const std::uint64_t before =
      std::stoull(Text(AsAdmin("GET", "/api/v1/audit?limit=1").Json(), "total"));
  const std::string channel = Text(MakeChannel(FreshName("chain-")), "id");
  std::vector<std::string> names;
  for (int i = 0; i < 100; ++i) {
    names.push_back(FreshName("v"));
  }
  {
    std::vector<engine::Thread> threads;
    for (int t = 0; t < 10; ++t) {
      threads.emplace_back("writer", [&, t] {
        for (int i = t; i < 100; i += 10) {
          const std::string body = R"({"kind":"Version","name":")" +
                                   names[static_cast<std::size_t>(i)] + R"(","spec":{}})";
          EXPECT_EQ(CallServer(i % world().servers(), "POST",
                               kBase + "/channels/" + channel + "/versions", body, {})
                        .status,
                    201);
        }
      });
    }
  }
  const Answer page = AsAdmin("GET", "/api/v1/audit?limit=500&since=" + std::to_string(before));
  const api::JsonValue json = page.Json();
  ASSERT_EQ(Entries(json).size(), 101u);
  std::uint64_t seq = before;
  std::string prev = Text(Entries(json)[0], "prev");
  for (const api::JsonValue& entry : Entries(json)) {
    EXPECT_EQ(Text(entry, "seq"), std::to_string(++seq));
    EXPECT_EQ(Text(entry, "prev"), prev);
    prev = Text(entry, "hash");
  }
  EXPECT_EQ(Text(json, "head"), prev);
  for (int server = 0; server < world().servers(); ++server) {
    const api::JsonValue other = AsAdmin("GET", "/api/v1/audit?limit=1", "", server).Json();
    EXPECT_EQ(Text(other, "head"), prev);
    EXPECT_EQ(Text(other, "verified"), "true");
    EXPECT_EQ(Text(other, "total"), std::to_string(seq));
  }
}

TEST_P(AuditCases, BadQueriesAreRefused) {  // C36
  for (const std::string query : {"limit=0", "limit=501", "limit=x", "limit=", "limit=-1",
                                  "since=x", "since=2026-13-01T00:00:00Z", "since=-1"}) {
    const Answer refused = AsAdmin("GET", "/api/v1/audit?" + query);
    EXPECT_EQ(refused.status, 400) << query;
    EXPECT_THAT(refused.body, HasSubstr("\"error\""));
  }
}

TEST_P(AuditCases, PagesGoThroughAllWithoutRepeat) {  // C36
  const std::string channel = Text(MakeChannel(FreshName("walk-")), "id");
  for (int i = 0; i < 5; ++i) {
    MakeVersion(channel, FreshName("v"));
  }
  const std::string total = Text(AsAdmin("GET", "/api/v1/audit?limit=1").Json(), "total");
  std::string since = "0";
  std::uint64_t seq = 0;
  while (true) {
    const api::JsonValue page = AsAdmin("GET", "/api/v1/audit?limit=7&since=" + since).Json();
    for (const api::JsonValue& entry : Entries(page)) {
      EXPECT_EQ(Text(entry, "seq"), std::to_string(++seq));
    }
    if (Entries(page).empty()) {
      EXPECT_EQ(Text(page, "next"), since);
      break;
    }
    since = Text(page, "next");
  }
  EXPECT_EQ(std::to_string(seq), total);
}

TEST_P(AuditCases, TheNewestAreInAscendingOrder) {  // C36
  MakeChannel(FreshName("new-"));
  MakeChannel(FreshName("new-"));
  const api::JsonValue page = AsAdmin("GET", "/api/v1/audit?limit=2").Json();
  ASSERT_EQ(Entries(page).size(), 2u);
  EXPECT_EQ(Text(Entries(page)[1], "seq"), Text(page, "total"));
  EXPECT_EQ(Text(page, "next"), Text(page, "total"));
  EXPECT_EQ(Text(Entries(page)[1], "prev"), Text(Entries(page)[0], "hash"));
}

TEST_P(AuditCases, SinceMayBeATime) {  // C36
  const std::string time = Text(MakeChannel(FreshName("time-")), "created_time");
  MakeChannel(FreshName("time-"));
  const api::JsonValue page = AsAdmin("GET", "/api/v1/audit?since=" + time).Json();
  ASSERT_FALSE(Entries(page).empty());
  for (const api::JsonValue& entry : Entries(page)) {
    EXPECT_NE(Text(entry, "time"), time);
  }
  EXPECT_EQ(Text(Entries(page).back(), "seq"), Text(page, "total"));
}

TEST_P(AuditCases, FiltersAreExact) {  // C36
  const std::string name = FreshName("filter-");
  AsAdmin("POST", "/api/v1/experiments/" + name + "/kill", R"({"reason":"x"})");
  AsAdmin("POST", "/api/v1/experiments/" + name + "/unkill");
  const api::JsonValue page =
      AsAdmin("GET", "/api/v1/audit?action=experiment.unkill&actor=ops").Json();
  ASSERT_FALSE(Entries(page).empty());
  for (const api::JsonValue& entry : Entries(page)) {
    EXPECT_EQ(Text(entry, "action"), "experiment.unkill");
    EXPECT_EQ(Text(entry, "actor"), "ops");
  }
  EXPECT_EQ(Text(Entries(page).back(), "target"), name);
  EXPECT_TRUE(Entries(AsAdmin("GET", "/api/v1/audit?action=experiment").Json()).empty());
}

TEST_P(AuditCases, TextThatIsNotUtf8IsStoredVerifiably) {  // C37
  const std::string name = FreshName("utf-");
  const Answer killed = Call("POST", "/api/v1/experiments/" + name + "/kill", R"({"reason":"x"})",
                             {{"Authorization", "Bearer " + std::string(kOddToken)}});
  ASSERT_EQ(killed.status, 200) << killed.body;
  const Answer page = AsAdmin("GET", "/api/v1/audit?limit=1");
  const api::JsonValue json = page.Json();
  ASSERT_EQ(Entries(json).size(), 1u);
  EXPECT_EQ(Text(Entries(json)[0], "actor"), "od\xEF\xBF\xBDx");
  EXPECT_EQ(Text(json, "verified"), "true");
  EXPECT_EQ(engine::AuditHash(Hashed(Entries(json)[0], page.body)), Text(json, "head"));
  EXPECT_EQ(Call("POST", "/api/v1/experiments/%FF/kill", "{}").status, 400);
}

TEST_P(StreamsCases, HeadsAndPositionsAgree) {
  MakeChannel(FreshName("str-"));
  std::string first;
  for (int server = 0; server < world().servers(); ++server) {
    const Answer answer = AsAdmin("GET", "/api/v1/streams", "", server);
    ASSERT_EQ(answer.status, 200) << answer.body;
    const api::JsonValue streams = answer.Json();
    EXPECT_EQ(Text(streams, "tx"), answer.Header("x-halo-tx"));
    ASSERT_EQ(Member(streams, "streams").get_array().size(), 6u);
    for (const api::JsonValue& stream : Member(streams, "streams").get_array()) {
      EXPECT_EQ(Text(stream, "head"), Text(stream, "position")) << answer.body;
      EXPECT_EQ(Text(stream, "digest").size(), 16u);
      EXPECT_EQ(Text(stream, "state_digest").size(), 16u);
    }
    first = server == 0 ? answer.body : first;
    EXPECT_EQ(answer.body, first);
  }
}

}  // namespace
}  // namespace cases
