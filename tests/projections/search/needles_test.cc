#include "projections/search/needles.h"

#include <string>

#include <gtest/gtest.h>

#include "projections/search/parser.h"
#include "tests/support/status_matchers.h"

namespace projections::search {
namespace {

// Whether a spec is looked at any further. What its bytes may have, its signature may have too.
bool IsLookedAt(const std::string& spec, const std::string& search) {
  const auto node = ParseSearch(search);
  EXPECT_OK(node);
  const SpecSignature signature(spec);
  bool may_have = true;
  for (const Needle& needle : NeedlesOf(*node)) {
    const bool has = MayHave(spec, needle);
    EXPECT_TRUE(!has || !needle.bits || signature.MayHave(*needle.bits)) << spec << search;
    may_have = may_have && has;
  }
  return may_have;
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

TEST(NeedlesTest, WhatIsNestedIsComparedAsItIsWritten) {
  EXPECT_TRUE(IsLookedAt(R"({"list":[1,{"k":"v"}],"o":{"x":1}})",
                         "spec.list = '[1,' and spec.o.x = '1' and spec.list.k = 'v'"));
}

// Else it would be no use: of a thousand members that are not there hardly one seems to be.
TEST(SpecSignatureTest, SaysNoOfMostThatIsNotThere) {
  const SpecSignature signature(kSpec);
  int seems_there = 0;
  for (int i = 0; i < 1000; ++i) {
    seems_there += signature.MayHave({"region", "x" + std::to_string(i)}) ? 1 : 0;
  }
  EXPECT_LT(seems_there, 50);
  EXPECT_TRUE(signature.MayHave({"region", "r51"}));
  EXPECT_TRUE(signature.MayHave({"region", "r5"}));
  EXPECT_TRUE(signature.MayHave({"n", "10"}));
}

// What was cut off is read to its end and no further.
TEST(SpecSignatureTest, EveryPrefixIsRead) {
  const std::string spec = kSpec;
  for (std::size_t length = 0; length <= spec.size(); ++length) {
    const std::string cut = spec.substr(0, length);
    EXPECT_FALSE(SpecSignature(cut).MayHave({"no such", "member"}));
  }
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
