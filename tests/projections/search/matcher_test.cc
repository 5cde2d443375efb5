#include "projections/search/matcher.h"

#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "projections/resources/state.h"
#include "projections/search/parser.h"
#include "schemas/codec.h"
#include "tests/projections/search/specs.h"
#include "tests/support/status_matchers.h"

namespace projections::search {
namespace {

class MatcherTest : public testing::Test {
 protected:
  // A resource with that spec.
  std::shared_ptr<const ResourceEntry> With(const std::string& spec) {
    ResourceState state;
    state.id = "01936d3c-0000-7000-8000-000000000000";
    state.kind = kind_;
    state.name = "alpha";
    state.href = "/";
    state.created_by = state.updated_by = "alice";
    state.spec = spec;
    const engine::Payload payload(EncodeResource(state));
    const auto table = schemas::DecodeAs<schemas::Resource>(payload);
    EXPECT_OK(table);
    return ResourceEntry::Make(payload, **table, kind_, paths_, engine::Position{1}, 0);
  }

  bool Finds(const ResourceEntry& entry, std::string_view text) const {
    const auto node = ParseSearch(text);
    EXPECT_OK(node);
    const bool matches = Matches(*node, entry, nullptr);
    EXPECT_EQ(Matcher(*node, paths_).Matches(entry, nullptr), matches) << text;
    return matches;
  }

  const std::string kind_ = "Cluster";
  SpecPaths paths_;
};

TEST_F(MatcherTest, SaysWhatTheDefinitionSays) {
  support::SeededRandom random;
  RandomSpec specs(random);
  int found = 0;
  for (int i = 0; i < 500; ++i) {
    const std::string spec = specs.Spec();
    const auto entry = With(spec);
    for (int search = 0; search < 25; ++search) {
      const Node node = specs.Search(static_cast<int>(random.Below(4)));
      const bool matches = Matches(node, *entry, nullptr);
      found += matches ? 1 : 0;
      ASSERT_EQ(Matcher(node, paths_).Matches(*entry, nullptr), matches)
          << spec << "\n"
          << Print(node) << "\nof seed " << random.seed();
    }
  }
  EXPECT_GT(found, 500);
}

// What an outline has is rounded; then the number itself is read.
TEST_F(MatcherTest, NumbersThatAreNearAreToldApart) {
  const auto entry = With(R"({"big":9007199254740993,"f":16384.5,"i":16384})");
  EXPECT_TRUE(Finds(*entry, "spec.big = 9007199254740993 and spec.big > 9007199254740992"));
  EXPECT_FALSE(Finds(*entry, "spec.big = 9007199254740992 or spec.big < 9007199254740993"));
  EXPECT_TRUE(Finds(*entry, "spec.f > 16384 and spec.f != 16384 and spec.i < 16384.5"));
  EXPECT_TRUE(Finds(*entry, "spec.i in [1, 16384] and spec.i between 16384 and 16385"));
  EXPECT_FALSE(Finds(*entry, "spec.f in [16384, 16385] or spec.f between 1 and 16384"));
}

TEST_F(MatcherTest, WhatAnOutlineHasNoRoomForIsFound) {
  std::string spec;
  for (int i = 0; i < 300; ++i) {
    spec += (i == 0 ? "{\"k" : ",\"k") + std::to_string(i) + "\":" + std::to_string(i);
  }
  const auto entry = With(spec + "}");
  EXPECT_TRUE(Finds(*entry, "spec.k7 = 7 and spec.k299 = 299 and spec.k300 is null"));
  EXPECT_FALSE(Finds(*entry, "spec.k299 = 7 or spec.k300 = 300 or spec.k299 is null"));
}

TEST_F(MatcherTest, WhatComesLaterHasPathsToo) {
  const auto early = With(R"({"a":1})");
  const auto node = ParseSearch("spec.b = 2 or spec.b is null");
  ASSERT_OK(node);
  const Matcher before(*node, paths_);
  const auto late = With(R"({"b":2})");
  EXPECT_TRUE(before.Matches(*early, nullptr));
  EXPECT_TRUE(Matcher(*node, paths_).Matches(*early, nullptr));
  EXPECT_TRUE(Matcher(*node, paths_).Matches(*late, nullptr));
}

}  // namespace
}  // namespace projections::search
