#include "projections/search/json_scan.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace projections::search {
namespace {

using testing::ElementsAre;

constexpr std::string_view kSpec =
    R"({"a":{"b":{"c":"deep"},"x":1},"brace":"}{][\"","flag":true,"list":[{"n":1},[2],"]"],)"
    R"("name":"x","none":null,"num":-1.5e+20,"off":false,"text":"a\"b\\c\n\u001fé"})";

JsonSlice Find(std::vector<std::string> path) {
  return FindMember(kSpec, path);
}

TEST(JsonScanTest, FindsMembersAlongAPath) {
  EXPECT_EQ(Find({"a", "b", "c"}).text, R"("deep")");
  EXPECT_EQ(Find({"a", "x"}).text, "1");
  EXPECT_EQ(Find({"name"}).text, R"("x")");
  EXPECT_EQ(Find({"num"}).text, "-1.5e+20");
  EXPECT_EQ(Find({"num"}).kind, JsonKind::kNumber);
  EXPECT_EQ(Find({"none"}).kind, JsonKind::kNull);
  EXPECT_EQ(Find({"flag"}).kind, JsonKind::kTrue);
  EXPECT_EQ(Find({"off"}).kind, JsonKind::kFalse);
  EXPECT_EQ(Find({"list"}).text, R"([{"n":1},[2],"]"])");
  EXPECT_EQ(Find({"a", "b"}).text, R"({"c":"deep"})");
}

TEST(JsonScanTest, WhatIsNotThereIsMissing) {
  for (const std::vector<std::string>& path : std::vector<std::vector<std::string>>{
           {"z"}, {"a", "z"}, {"name", "x"}, {"list", "n"}, {"n"}, {"b"}, {"a", "b", "c", "d"}}) {
    EXPECT_EQ(Find(path).kind, JsonKind::kMissing);
  }
  EXPECT_EQ(FindMember("", std::vector<std::string>{"a"}).kind, JsonKind::kMissing);
  EXPECT_EQ(FindMember("{}", std::vector<std::string>{"a"}).kind, JsonKind::kMissing);
}

TEST(JsonScanTest, TextsAreUnescaped) {
  std::string scratch;
  EXPECT_EQ(TextOf(Find({"text"}), scratch), "a\"b\\c\n\x1F\xC3\xA9");
  EXPECT_EQ(TextOf(Find({"brace"}), scratch), "}{][\"");
  EXPECT_EQ(TextOf(Find({"name"}), scratch), "x");
}

TEST(JsonScanTest, ElementsAreWalked) {
  std::vector<std::string> elements;
  for (JsonMembers at(Find({"list"}).text); at.Next();) {
    elements.emplace_back(at.value().text);
  }
  EXPECT_THAT(elements, ElementsAre(R"({"n":1})", "[2]", R"("]")"));
  EXPECT_FALSE(JsonMembers("{}").Next());
  EXPECT_FALSE(JsonMembers("[]").Next());
  EXPECT_FALSE(JsonMembers("7").Next());
}

TEST(JsonScanTest, QuotesBehindBackslashesEndNothing) {
  const std::string object = R"({"a":"\\","b":"\\\"","c":["\"]","\\"],"d":1})";
  const auto text = [&object](const std::string& key) {
    return FindMember(object, std::vector<std::string>{key}).text;
  };
  EXPECT_EQ(text("a"), R"("\\")");
  EXPECT_EQ(text("b"), R"("\\\"")");
  EXPECT_EQ(text("c"), R"(["\"]","\\"])");
  EXPECT_EQ(text("d"), "1");
}

// What was cut off is never read beyond its end.
TEST(JsonScanTest, EveryPrefixIsWalkedToItsEnd) {
  for (std::size_t length = 0; length <= kSpec.size(); ++length) {
    const std::string cut(kSpec.substr(0, length));
    std::string scratch;
    for (JsonMembers at(cut); at.Next();) {
      EXPECT_LE(at.value().text.size(), cut.size());
      if (at.value().kind == JsonKind::kString) {
        EXPECT_LE(TextOf(at.value(), scratch).size(), cut.size());
      }
    }
  }
}

}  // namespace
}  // namespace projections::search
