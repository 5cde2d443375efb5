#include "projections/search/needles.h"

#include <string>

#include <gtest/gtest.h>

#include "projections/search/parser.h"
#include "tests/support/status_matchers.h"

namespace projections::search {
namespace {

// Whether a spec is looked at any further.
bool IsLookedAt(const std::string& spec, const std::string& search) {
  const auto node = ParseSearch(search);
  EXPECT_OK(node);
  for (const Needle& needle : NeedlesOf(*node)) {
    if (!MayHave(spec, needle)) {
      return false;
    }
  }
  return true;
}

constexpr char kSpec[] = R"({"a":{"region":"r5"},"n":10,"on":true,"region":"r51","say":"a\"b"})";

TEST(NeedlesTest, WhatIsNowhereIsNotLookedAt) {
  EXPECT_FALSE(IsLookedAt(kSpec, "spec.region = 'r6'"));
  EXPECT_FALSE(IsLookedAt(kSpec, "spec.n > 3 and (spec.n < 11 and spec.zone = 'z')"));
  EXPECT_FALSE(IsLookedAt("{}", "spec.region = 'r5'"));
  EXPECT_FALSE(IsLookedAt(R"({"region":)", "spec.region = 'r5'"));
  EXPECT_FALSE(IsLookedAt(R"({"region":"r5)", "spec.region = 'r5'"));
}

TEST(NeedlesTest, WhatIsSomewhereIs) {
  EXPECT_TRUE(IsLookedAt(kSpec, "spec.region = 'r51'"));
  EXPECT_TRUE(IsLookedAt(kSpec, "spec.a.region = 'r5' and spec.n = '10' and spec.on = 'true'"));
  EXPECT_TRUE(IsLookedAt(kSpec, "spec.region = 'r5'"));  // Of another member.
}

TEST(NeedlesTest, OnlyWhatHasToBeThereIsLookedFor) {
  EXPECT_TRUE(IsLookedAt(kSpec, "spec.region = 'r6' or spec.n = 10"));
  EXPECT_TRUE(IsLookedAt(kSpec, "not spec.region = 'r6'"));
  EXPECT_TRUE(IsLookedAt(kSpec, "spec.region != 'r6' and spec.region in ['r6', 'r51']"));
  EXPECT_TRUE(IsLookedAt(kSpec, "spec.say = 'a\"b'"));
  EXPECT_TRUE(IsLookedAt(kSpec, "spec.zone is null and spec.n = 11 and name = 'x'"));
}

}  // namespace
}  // namespace projections::search
