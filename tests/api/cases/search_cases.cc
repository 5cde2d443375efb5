// Cases 32 to 43 of the resource API: searches, and which members are shown.

#include <algorithm>
#include <iterator>

#include <gmock/gmock.h>

#include "engine/base/clock.h"
#include "tests/api/cases/suites.h"

namespace cases {
namespace {

std::string Escaped(std::string_view text) {
  static constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    escaped += '%';
    escaped += kHex[byte >> 4];
    escaped += kHex[byte & 15];
  }
  return escaped;
}

}  // namespace

std::string SearchCases::MakeWith(const std::string& path, const std::string& kind,
                                  const std::string& name, const std::string& spec,
                                  const std::string& labels) {
  const Answer made = Call("POST", kBase + path,
                           R"({"kind":")" + kind + R"(","name":")" + name + R"(","spec":)" + spec +
                               R"(,"labels":)" + labels + "}");
  EXPECT_EQ(made.status, 201) << made.body;
  return Text(made.Json(), "id");
}

Answer SearchCases::Search(const std::string& path, const std::string& search) {
  return Get(kBase + path + "?size=100&order=name&search=" + Escaped(search));
}

std::vector<std::string> SearchCases::Found(const std::string& path, const std::string& search) {
  const Answer answer = Search(path, search);
  EXPECT_EQ(answer.status, 200) << search << ": " << answer.body;
  return Names(answer.Json());
}

namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

// What is wrong with a search is told as such, and nothing of what runs below.
void ExpectRefused(const Answer& answer, const std::string& search) {
  EXPECT_EQ(answer.status, 400) << search << ": " << answer.body;
  EXPECT_EQ(Text(answer.Json(), "code"), "HYPERFLEET-VAL-005") << search;
  for (const char* leaked : {"pq:", "SQLSTATE", "absl", "INVALID_ARGUMENT"}) {
    EXPECT_THAT(answer.body, Not(HasSubstr(leaked)));
  }
}
TEST_P(SearchCases, LabelsAreFound) {  // 32
  const std::string mark = FreshName("m");
  const std::string cluster = MakeWith("/clusters", "Cluster", FreshName("c"), "{}",
                                       R"({"environment":"production","mark":")" + mark + "\"}");
  MakeWith("/clusters", "Cluster", FreshName("c"), "{}",
           R"({"environment":"staging","mark":")" + mark + "\"}");
  const std::string pools = "/clusters/" + cluster + "/nodepools";
  MakeWith(pools, "NodePool", "pool-1", "{}", R"({"environment":"production","my-key":"x"})");
  MakeWith(pools, "NodePool", "pool-2", "{}", R"({"environment":"staging"})");
  const std::string production = "labels.environment='production'";
  const Answer clusters = Search("/clusters", production + " and labels.mark='" + mark + "'");
  ASSERT_EQ(Names(clusters.Json()).size(), 1u) << clusters.body;
  EXPECT_EQ(Text(clusters.Json(), "total"), "1");
  EXPECT_THAT(Found(pools, production), ElementsAre("pool-1"));
  EXPECT_THAT(Found(pools, "labels.my-key = 'x'"), ElementsAre("pool-1"));
  EXPECT_THAT(Found(pools, "labels.my-key is null"), ElementsAre("pool-2"));
  EXPECT_THAT(Found(pools, "labels.environment in ['production', 'staging']"),
              ElementsAre("pool-1", "pool-2"));
  EXPECT_THAT(Found("/resources", production + " and owner_id = '" + cluster + "'"),
              ElementsAre("pool-1"));
}

TEST_P(SearchCases, SpecsAreFound) {  // 33
  const std::string name = FreshName("s");
  MakeWith("/clusters", "Cluster", name,
           R"({"provider":"aws","release":{"channel":"dev",)"
           R"("build":{"id":"b7"}},"machineType":"m5","my-key":true})",
           "{}");
  const std::string mine = " and name = '" + name + "'";
  for (const char* search :
       {"spec.provider='aws'", "spec.release.channel='dev'", "spec.release.build.id='b7'",
        "spec.machineType = 'm5'", "spec.my-key = true", "spec.release.channel like 'd%'"}) {
    EXPECT_THAT(Found("/clusters", search + mine), ElementsAre(name)) << search;
  }
  for (const char* search : {"spec.provider='AWS'", "spec.release='dev'", "spec.none='aws'",
                             "spec.release.channel.x='dev'"}) {
    EXPECT_THAT(Found("/clusters", search + mine), IsEmpty()) << search;
  }
}

TEST_P(SearchCases, NumbersOfSpecsAreComparedAsNumbers) {  // 34
  const std::string channel = Text(MakeChannel(FreshName("num-")), "id");
  const std::string versions = "/channels/" + channel + "/versions";
  const auto make = [&](const std::string& name, const std::string& value) {
    MakeWith(versions, "Version", name, R"({"release":{"version":)" + value + "}}", "{}");
  };
  make("v1", "1");
  make("v10", "10");
  make("vbig", "9007199254740993");
  make("vtext", "\"99\"");
  EXPECT_THAT(Found(versions, "spec.release.version > 9 and spec.release.version < 100"),
              ElementsAre("v10"));
  EXPECT_THAT(Found(versions, "spec.release.version > 9007199254740992"), ElementsAre("vbig"));
  EXPECT_THAT(Found(versions, "spec.release.version = '99'"), ElementsAre("vtext"));
  EXPECT_THAT(Found(versions, "spec.release.version between 1 and 10.0"), ElementsAre("v1", "v10"));
}

TEST_P(SearchCases, AllPartsOfAnAndMustHold) {  // 35
  const std::string channel = Text(MakeChannel(FreshName("and-")), "id");
  const std::string versions = "/channels/" + channel + "/versions";
  MakeWith(versions, "Version", "a", R"({"region":"us-east"})", R"({"env":"prod"})");
  MakeWith(versions, "Version", "b", R"({"region":"us-east"})", R"({"env":"dev"})");
  MakeWith(versions, "Version", "c", R"({"region":"us-west"})", R"({"env":"prod"})");
  EXPECT_THAT(Found(versions, "spec.region='us-east' AND labels.env='prod'"), ElementsAre("a"));
  EXPECT_THAT(Found(versions, "spec.region='us-east' OR labels.env='prod'"),
              ElementsAre("a", "b", "c"));
  EXPECT_THAT(Found(versions, "labels.env='prod' and not name = 'a'"), ElementsAre("c"));
}

TEST_P(SearchCases, WhatIsNoConditionIsRefused) {  // 36
  for (const char* search :
       {"status.conditions.Reconciled='Invalid'", "status.conditions.reconciled='True'",
        "status.conditions.Reconciled!='True'", "status.conditions.Reconciled='true'"}) {
    ExpectRefused(Search("/clusters", search), search);
  }
}

// The ids that a search finds among the resources of those paths.
std::vector<std::string> FoundAmong(const std::vector<std::string>& paths, const Answer& answer) {
  EXPECT_EQ(answer.status, 200) << answer.body;
  std::vector<std::string> found;
  const api::JsonValue list = answer.Json();
  for (const api::JsonValue& item : Member(list, "items").get_array()) {
    for (const std::string& path : paths) {
      if (path.ends_with(Text(item, "id"))) {
        found.push_back(path);
      }
    }
  }
  return found;
}

std::string MinutesAgo(int minutes) {
  engine::Timestamp time = engine::SystemClock().Now();
  time.micros -= minutes * 60'000'000LL;
  return engine::FormatTimestamp(time);
}

TEST_P(StatusCases, OnlyWhatIsReconciledIsFound) {  // 36
  const std::string ready = NewCluster();
  const std::string other = NewCluster();
  PutAll(ready, kClusterAdapters, 1);
  const auto found = [&](const std::string& path, const std::string& search) {
    return FoundAmong({ready, other},
                      Get(kBase + path + "?size=100&fields=id&search=" + Escaped(search)));
  };
  for (const char* path : {"/clusters", "/resources"}) {
    EXPECT_THAT(found(path, "status.conditions.Reconciled='True'"), ElementsAre(ready));
    EXPECT_THAT(found(path, "'False' = status.conditions.Reconciled"), ElementsAre(other));
    EXPECT_THAT(found(path, "status.conditions.Reconciled='Unknown'"), IsEmpty());
    EXPECT_THAT(found(path, "status.conditions.Nothing is null and kind='Cluster'"),
                UnorderedElementsAre(ready, other));
    EXPECT_THAT(found(path, "status.conditions.Reconciled.observed_generation > 1"), IsEmpty());
  }
  ASSERT_EQ(Call("PATCH", ready, R"({"spec":{"a":1}})").status, 200);
  EXPECT_THAT(found("/clusters", "status.conditions.Reconciled='True'"), IsEmpty());
  EXPECT_THAT(found("/clusters", "status.conditions.LastKnownReconciled='True' and generation=2"),
              ElementsAre(ready));
}

TEST_P(StatusCases, WhatIsReconciledAndOldIsFound) {  // 37
  const std::string old_cluster = NewCluster();
  const std::string new_cluster = NewCluster();
  const std::string old_pool = NewPool(old_cluster);
  const std::string new_pool = NewPool(old_cluster);
  for (const char* adapter : kClusterAdapters) {
    ASSERT_EQ(Put(old_cluster, Report(adapter, 1, "True", "", MinutesAgo(20))).status, 201);
    ASSERT_EQ(Put(new_cluster, Report(adapter, 1)).status, 201);
  }
  for (const char* adapter : kPoolAdapters) {
    ASSERT_EQ(Put(old_pool, Report(adapter, 1, "True", "", MinutesAgo(20))).status, 201);
    ASSERT_EQ(Put(new_pool, Report(adapter, 1)).status, 201);
  }
  const std::string search = Escaped(
      "status.conditions.Reconciled='True' AND "
      "status.conditions.Reconciled.last_updated_time < '" +
      MinutesAgo(10) + "'");
  const std::vector<std::string> all = {old_cluster, new_cluster, old_pool, new_pool};
  EXPECT_THAT(FoundAmong(all, Get(kBase + "/clusters?search=" + search)), ElementsAre(old_cluster));
  EXPECT_THAT(FoundAmong(all, Get(kBase + "/nodepools?search=" + search)), ElementsAre(old_pool));
}

TEST_P(SearchCases, LabelsAndConditionsAreNotNegated) {  // 38
  for (const char* path : {"/clusters", "/nodepools"}) {
    for (const char* search :
         {"not status.conditions.Reconciled='True'",
          "not (labels.a='x' AND status.conditions.Reconciled='True')", "labels.a not in ['x']"}) {
      ExpectRefused(Search(path, search), search);
    }
    EXPECT_EQ(Search(path, "status.conditions.Reconciled='True' AND not (name='x')").status, 200);
  }
}

TEST_P(SearchCases, TypesOfColumnsAreRespected) {  // 39
  for (const char* path : {"/resources", "/clusters", "/nodepools"}) {
    for (const char* search :
         {"generation='abc'", "created_time='not-a-date'", "generation in [1, 'x']",
          "'abc' = generation", "created_time like '2%'", "generation between 'a' and 'b'",
          "status.conditions.X.observed_generation = 1.5", "name in []", "name"}) {
      ExpectRefused(Search(path, search), search);
    }
    EXPECT_EQ(Search(path, "generation=1").status, 200);
    EXPECT_EQ(Search(path, "created_time>'2020-01-01T00:00:00Z'").status, 200);
    EXPECT_EQ(Search(path, "generation=1.5 or generation > 99999999999999999999").status, 200);
  }
}

TEST_P(SearchCases, UnknownFieldsAreRefused) {  // 40
  for (const char* search : {"properties.foo='bar'", "label.environment='x'",
                             "nonexistent_column='x'", "tenancy.org='x'", "resources.name='x'"}) {
    ExpectRefused(Search("/clusters", search), search);
  }
}

TEST_P(SearchCases, NothingGetsOutOfItsScope) {  // 41
  const std::string name = FreshName("safe-");
  const std::string channel = Text(MakeChannel(name), "id");
  for (const std::string& search :
       {std::string("' OR '1'='1"), std::string("'; DROP TABLE resources; --"),
        "name='x') OR (name='" + name + "'", std::string("name='x' OR '1'='1'"), std::string("\\"),
        std::string("name = '\\'"), std::string(5000, '(')}) {
    ExpectRefused(Search("/clusters", search), search);
  }
  EXPECT_THAT(Found("/clusters", "name='x' OR name='" + name + "'"), IsEmpty());
  EXPECT_THAT(Found("/clusters", "kind='Channel' OR id='" + channel + "'"), IsEmpty());
  EXPECT_EQ(Get(kBase + "/channels/" + channel).status, 200);
  EXPECT_EQ(Get(kBase + "/clusters?search=%20%09").status, 200);
}

TEST_P(SearchCases, ASearchMayBeLong) {
  std::string search = "name='x'";
  while (search.size() < 4000) {
    search += " or name='x'";
  }
  EXPECT_EQ(Search("/clusters", search).status, 200);
  ExpectRefused(Search("/clusters", search + std::string(4096, ' ') + "and name='y'"), "long");
}

TEST_P(SearchCases, OnlyTheFieldsAskedForAreShown) {  // 43
  const std::string cluster = Text(MakeCluster(FreshName("f-")), "id");
  const auto members = [](const api::JsonValue& value) {
    std::vector<std::string> names;
    for (const auto& member : value.get_object()) {
      names.emplace_back(member.key());
    }
    return names;
  };
  const std::string one = kBase + "/clusters/" + cluster + "?fields=";
  EXPECT_THAT(members(Get(one + "id,name,kind").Json()), ElementsAre("id", "kind", "name"));
  EXPECT_THAT(members(Get(one + "name").Json()), ElementsAre("id", "name"));
  EXPECT_THAT(members(Get(one + "name&fields=spec,%20tenancy").Json()),
              ElementsAre("id", "name", "spec", "tenancy"));
  EXPECT_THAT(members(Get(one + "deleted_time").Json()), ElementsAre("id"));
  EXPECT_THAT(members(Get(one).Json()), Not(ElementsAre("id")));
  const api::JsonValue partial =
      Get(one + "status.conditions.type,status.conditions.status").Json();
  for (const auto& condition : Member(Member(partial, "status"), "conditions").get_array()) {
    EXPECT_THAT(members(condition), ElementsAre("type", "status"));
  }
  EXPECT_THAT(Get(one + "status.conditions").body, HasSubstr("observed_generation"));
  EXPECT_NE(Get(one + "name").Header("etag"), "");
  const api::JsonValue list = Get(kBase + "/clusters?size=1&fields=name,owner_references").Json();
  EXPECT_THAT(members(Member(list, "items").get_array().at(0)), ElementsAre("id", "name"));
}

TEST_P(SearchCases, UnknownFieldsToShowAreRefused) {  // 43
  const std::string cluster = Text(MakeCluster(FreshName("g-")), "id");
  for (const std::string& path :
       {"/clusters/" + cluster, std::string("/clusters"),
        "/clusters/" + cluster + "/nodepools"}) {  // The last one is empty.
    for (const char* field :
         {"status", "spec.x", "nope", "status.nope", "labels.a", "status.conditions.nope", "ID"}) {
      const Answer refused = Get(kBase + path + "?fields=name," + field);
      EXPECT_EQ(refused.status, 400) << path << " " << field;
      EXPECT_EQ(Text(refused.Json(), "code"), "HYPERFLEET-VAL-000");
      EXPECT_EQ(Text(Member(refused.Json(), "errors").get_array().at(0), "field"), "fields");
    }
  }
}

TEST_P(SearchCases, CursorsGoThroughAListWhateverMoves) {
  const std::string channel = Text(MakeChannel(FreshName("cur-")), "id");
  const std::string path = kBase + "/channels/" + channel + "/versions";
  std::vector<std::string> all;
  for (int i = 0; i < 7; ++i) {
    all.push_back("v" + std::to_string(i));
    MakeVersion(channel, all.back());
  }
  for (const std::string order : {"", "&order=name", "&order=kind,generation%20desc"}) {
    std::vector<std::string> seen;
    std::string cursor;
    for (int page = 0; page < 10; ++page) {
      const Answer answer = Get(path + "?size=3&cursor=" + cursor + order);
      ASSERT_EQ(answer.status, 200) << answer.body;
      std::ranges::copy(Names(answer.Json()), std::back_inserter(seen));
      cursor = Text(answer.Json(), "next_cursor");
      if (cursor.empty()) {
        break;
      }
      // What comes in front moves the pages, and not the places.
      MakeVersion(channel, FreshName("a"));
    }
    std::erase_if(seen, [](const std::string& name) { return name.front() == 'a'; });
    std::ranges::sort(seen);
    EXPECT_EQ(seen, all) << order;
  }
  EXPECT_EQ(Text(Get(path + "?size=3").Json(), "next_cursor"), "");
}

TEST_P(SearchCases, ACursorIsOfItsOrder) {
  const std::string channel = Text(MakeChannel(FreshName("cur-")), "id");
  const std::string path = kBase + "/channels/" + channel + "/versions";
  MakeVersion(channel, "v1");
  MakeVersion(channel, "v2");
  const std::string cursor = Text(Get(path + "?size=1&cursor=").Json(), "next_cursor");
  ASSERT_NE(cursor, "");
  EXPECT_EQ(Get(path + "?cursor=" + cursor).status, 200);
  for (const std::string& query :
       {"cursor=" + cursor + "&order=name", "cursor=" + cursor + "0", std::string("cursor=abc"),
        "cursor=" + cursor + "&page=1", std::string("cursor=zz")}) {
    const Answer refused = Get(path + "?" + query);
    EXPECT_EQ(refused.status, 400) << query;
    EXPECT_EQ(Text(refused.Json(), "code"), "HYPERFLEET-VAL-000");
  }
}

}  // namespace
}  // namespace cases
