// Cases 28 to 31 and 42 of the resource API: lists.

#include <algorithm>

#include <gmock/gmock.h>

#include "tests/api/cases/suites.h"

namespace cases {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_P(ListCases, PagesAddUpToTheWhole) {  // 28
  const std::string channel = Text(MakeChannel(FreshName("pages-")), "id");
  for (int i = 0; i < 20; ++i) {
    MakeVersion(channel, FreshName("v"));
  }
  const std::string path = kBase + "/channels/" + channel + "/versions";
  std::vector<std::string> names;
  for (const std::string page : {"1", "2", "3"}) {
    const Answer answer = Get(path + "?page=" + page + "&size=10");
    ASSERT_EQ(answer.status, 200);
    const api::JsonValue list = answer.Json();
    EXPECT_EQ(Text(list, "page"), page);
    EXPECT_EQ(Text(list, "size"), page == "3" ? "0" : "10");
    EXPECT_EQ(Text(list, "total"), "20");
    EXPECT_TRUE(Member(list, "kind").is_null());
    std::ranges::copy(Names(list), std::back_inserter(names));
  }
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::unique(names).size(), 0u);
  EXPECT_EQ(names.size(), 20u);
}

TEST_P(ListCases, PageAndSizeHaveBounds) {  // 29
  const std::string path = kBase + "/clusters";
  for (const std::string query : {"page=0", "size=0", "size=101", "page=abc", "page=100001",
                                  "size=1.5", "page=99999999999999999999", "size=-1"}) {
    const Answer refused = Get(path + "?" + query);
    EXPECT_EQ(refused.status, 400) << query;
    EXPECT_EQ(Text(refused.Json(), "code"), "HYPERFLEET-VAL-000");
  }
  const Answer both = Get(path + "?page=0&size=999");
  ASSERT_EQ(both.status, 400);
  const api::JsonValue problem = both.Json();
  const api::JsonArray& errors = Member(problem, "errors").get_array();
  ASSERT_EQ(errors.size(), 2u) << both.body;
  EXPECT_EQ(Text(errors[0], "field"), "page");
  EXPECT_EQ(Text(errors[0], "constraint"), "min");
  EXPECT_EQ(Text(errors[1], "field"), "size");
  EXPECT_EQ(Text(errors[1], "constraint"), "max");
  const Answer format = Get(path + "?page=abc");
  EXPECT_THAT(format.body, HasSubstr("\"constraint\":\"format\""));
  EXPECT_EQ(Get(path + "?page=%20&size=&pageSize=7").status, 200);
}

TEST_P(ListCases, OrdersAreHonoured) {  // 30
  const std::string cluster = Text(MakeCluster(FreshName("order-")), "id");
  for (const std::string name : {"bbb", "aaa", "ccc"}) {
    MakeNodePool(cluster, name);
  }
  const std::string path = kBase + "/clusters/" + cluster + "/nodepools";
  EXPECT_THAT(Names(Get(path).Json()), ElementsAre("ccc", "aaa", "bbb"));
  EXPECT_THAT(Names(Get(path + "?order=name").Json()), ElementsAre("aaa", "bbb", "ccc"));
  EXPECT_THAT(Names(Get(path + "?order=name%20desc").Json()), ElementsAre("ccc", "bbb", "aaa"));
  EXPECT_THAT(Names(Get(path + "?order=kind+asc,name+desc").Json()),
              ElementsAre("ccc", "bbb", "aaa"));
  EXPECT_THAT(Names(Get(path + "?order=kind&order=name").Json()), ElementsAre("aaa", "bbb", "ccc"));
}

TEST_P(ListCases, BadOrdersAreRefused) {  // 31
  for (const std::string order :
       {"name%20ascending", "name%3B%20DROP%20TABLE%20clusters", "pg_sleep(10)",
        "name%20asc%20extra", "NAME", "nonexistent", "name,,kind"}) {
    const Answer refused = Get(kBase + "/clusters?order=" + order);
    EXPECT_EQ(refused.status, 400) << order;
    EXPECT_EQ(Text(refused.Json(), "code"), "HYPERFLEET-VAL-005");
    EXPECT_THAT(Text(refused.Json(), "detail"), HasSubstr("invalid order format"));
  }
  EXPECT_EQ(Get(kBase + "/clusters?order=").status, 200);
}

TEST_P(ListCases, WhatIsBeingDeletedIsListed) {  // 42
  const std::string cluster = Text(MakeCluster(FreshName("soft-")), "id");
  const std::string path = kBase + "/clusters/" + cluster + "/nodepools";
  MakeNodePool(cluster, "stays");
  const std::string leaving = Text(MakeNodePool(cluster, "leaves"), "id");
  ASSERT_EQ(Call("DELETE", path + "/" + leaving).status, 202);
  const api::JsonValue list = Get(path + "?order=name").Json();
  EXPECT_THAT(Names(list), ElementsAre("leaves", "stays"));
  const api::JsonArray& items = Member(list, "items").get_array();
  EXPECT_NE(Text(items[0], "deleted_time"), "");
  EXPECT_EQ(Text(items[1], "deleted_time"), "");
  EXPECT_EQ(Get(path + "/" + leaving).status, 200);
}

TEST_P(ListCases, ListsBelowNothingAreNotFound) {
  EXPECT_EQ(Get(kBase + "/clusters/01234567-89ab-7cde-8f01-23456789abcd/nodepools").status, 404);
}

TEST_P(ListCases, WhatCannotBeNarrowedIsRefused) {
  EXPECT_EQ(Get(kBase + "/clusters?ref_type=dep").status, 400);
  const Answer filter = Get(kBase + "/clusters?ref_type=dep&ref_target_id=x");
  EXPECT_EQ(filter.status, 400);
  EXPECT_EQ(filter.Header("content-type"), "application/problem+json");
  EXPECT_EQ(Text(Member(filter.Json(), "errors").get_array().at(0), "field"), "reftype");
}

TEST_P(ListCases, AListOfEveryKindKnowsNoReferences) {
  EXPECT_EQ(Get(kBase + "/resources?ref_type=dep").status, 400);
  EXPECT_EQ(Get(kBase + "/resources?ref_target_id=x").status, 400);
  const api::JsonValue list = Get(kBase + "/resources?size=1").Json();
  const Answer filter = Get(kBase + "/resources?size=1&ref_type=dep&ref_target_id=x");
  EXPECT_EQ(filter.status, 200);
  EXPECT_EQ(Text(filter.Json(), "total"), Text(list, "total"));
}

TEST_P(ListCases, FreshnessIsAChoice) {
  const std::string channel = Text(MakeChannel(FreshName("fresh-")), "id");
  const std::string path = kBase + "/channels/" + channel;
  EXPECT_EQ(Get(path + "?freshness=latest").status, 200);
  EXPECT_EQ(Get(path + "?freshness=cached").status, 200);
  EXPECT_EQ(Get(path + "?freshness=new").status, 400);
  EXPECT_EQ(Call("HEAD", path).status, 200);
}

}  // namespace
}  // namespace cases
