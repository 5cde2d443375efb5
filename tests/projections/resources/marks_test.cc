#include "projections/resources/marks.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/projections/resources/store.h"

namespace projections {
namespace {

using testing::Contains;
using testing::IsSupersetOf;
using testing::Not;

TEST(MarksTest, AResourceHasThoseOfItsNameItsLabelsAndItsTenancy) {
  TestStore store;
  CreateRequest request{.id = store.NextId(),
                        .kind = "Channel",
                        .name = "n",
                        .parent_id = {},
                        .spec = "{}",
                        .labels = {{"a", "b"}, {"c", ""}},
                        .tenancy = {{"org", "x"}, {"project", "y"}, {"zone", "z"}},
                        .actor = "alice"};
  ASSERT_FALSE(store.Do(request).refusal.has_value());
  const std::vector<std::uint64_t> marks = MarksOf(*store.Find(request.id));
  EXPECT_TRUE(std::ranges::is_sorted(marks));
  EXPECT_EQ(std::set<std::uint64_t>(marks.begin(), marks.end()).size(), 9u);
  EXPECT_THAT(marks,
              IsSupersetOf({NameMark("Channel", "n"), LabelMark("Channel", "a", "b"),
                            LabelMark("Channel", "c", ""), TenancyMark("Channel", {{"org", "x"}}),
                            TenancyMark("Channel", {{"zone", "z"}}),
                            TenancyMark("Channel", {{"org", "x"}, {"zone", "z"}}),
                            TenancyMark("Channel", {{"project", "y"}, {"zone", "z"}})}));
  EXPECT_THAT(marks, Not(Contains(LabelMark("Cluster", "a", "b"))));
}

TEST(MarksTest, WhatDiffersHasAnotherMark) {
  EXPECT_NE(LabelMark("K", "ab", "c"), LabelMark("K", "a", "bc"));
  EXPECT_NE(LabelMark("K", "a", "b"), TenancyMark("K", {{"a", "b"}}));
  EXPECT_NE(LabelMark("K", "a", ""), NameMark("K", "a"));
}

}  // namespace
}  // namespace projections
