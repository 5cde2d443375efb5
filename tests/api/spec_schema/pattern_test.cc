#include "api/spec_schema/pattern.h"

#include <gmock/gmock.h>

namespace api {
namespace {

using testing::HasSubstr;

// `yes`, `no`, or why there is no such pattern.
std::string Find(std::string_view pattern, std::string_view text) {
  const auto compiled = Pattern::Compile(pattern);
  if (!compiled.ok()) {
    return std::string(compiled.status().message().data(), compiled.status().message().size());
  }
  return compiled->IsFoundIn(text) ? "yes" : "no";
}

TEST(PatternTest, IsFoundAnywhere) {
  EXPECT_EQ(Find("b+", "abbc"), "yes");
  EXPECT_EQ(Find("^b", "abbc"), "no");
  EXPECT_EQ(Find("^[a-z]{2,4}$", "abbc"), "yes");
  EXPECT_EQ(Find("^a$", "a\n"), "no");
}

TEST(PatternTest, IsOfEcmaScript) {
  EXPECT_EQ(Find("^\\s$", "\u00A0"), "yes");
  EXPECT_EQ(Find("^[\\S]$", "\u3000"), "no");
  EXPECT_EQ(Find("^[^\\s]$", "x"), "yes");
  EXPECT_EQ(Find("^.$", "\u2028"), "no");
  EXPECT_EQ(Find("^.$", "\U0001F600"), "yes");
  EXPECT_EQ(Find("^\\d$", "\u0667"), "no");
  EXPECT_EQ(Find("^\\u00e9$", "\u00E9"), "yes");
  EXPECT_EQ(Find("^\\uD83D\\uDE00$", "\U0001F600"), "yes");
  EXPECT_EQ(Find("^\\u{1F600}$", "\U0001F600"), "yes");
  EXPECT_EQ(Find("^\\x41\\cJ$", "A\n"), "yes");
  EXPECT_EQ(Find("^[\\b]$", "\b"), "yes");
  EXPECT_EQ(Find("[]", "a"), "no");
  EXPECT_EQ(Find("^[^]$", "\n"), "yes");
  EXPECT_EQ(Find("^[[:digit:]]$", "d]"), "yes");
  EXPECT_EQ(Find("^(?<year>\\d{4})\\/\\-$", "2024/-"), "yes");
  EXPECT_EQ(Find("^\\p{Letter}\\p{Script=Greek}\\P{Lu}$", "\u00E9\u03B1x"), "yes");
}

TEST(PatternTest, WhatIsNotLinearIsRefusedByName) {
  EXPECT_THAT(Find("a(?=b)", "ab"), HasSubstr("look-ahead"));
  EXPECT_THAT(Find("(?<!b)a", "ab"), HasSubstr("look-behind"));
  EXPECT_THAT(Find("(a)\\1", "aa"), HasSubstr("back references"));
  EXPECT_THAT(Find("(?<x>a)\\k<x>", "aa"), HasSubstr("back references"));
}

TEST(PatternTest, NonsenseIsRefused) {
  for (const char* const pattern :
       {"(", "[", "a\\", "\\u12", "\\uD800", "\\u{110000}", "\\c1", "\\p{Nothing}", "\\pL", "\\y",
        "(?<>a)", "*", "((a{1000}){1000}){1000}"}) {
    EXPECT_THAT(Find(pattern, ""), HasSubstr("the pattern \"")) << pattern;
  }
}

// What backtracking would take 2^100000 steps for.
TEST(PatternTest, CatastrophesAreLinear) {
  EXPECT_EQ(Find("^(a|a)*(a*)*b$", std::string(100'000, 'a')), "no");
  EXPECT_EQ(Find("^([a-z]+)+$", std::string(100'000, 'a') + "!"), "no");
}

}  // namespace
}  // namespace api
