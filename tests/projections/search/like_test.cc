#include "projections/search/like.h"

#include <string>

#include <gtest/gtest.h>

#include "tests/support/seeded_random.h"

namespace projections::search {
namespace {

TEST(LikeTest, PatternsMeanWhatTheyDoInPostgres) {
  EXPECT_TRUE(IsLike("", ""));
  EXPECT_TRUE(IsLike("", "%"));
  EXPECT_FALSE(IsLike("", "_"));
  EXPECT_TRUE(IsLike("abc", "abc"));
  EXPECT_FALSE(IsLike("abc", "ab"));
  EXPECT_FALSE(IsLike("ab", "abc"));
  EXPECT_TRUE(IsLike("abc", "a%"));
  EXPECT_TRUE(IsLike("abc", "%c"));
  EXPECT_TRUE(IsLike("abc", "%b%"));
  EXPECT_TRUE(IsLike("abc", "a_c"));
  EXPECT_FALSE(IsLike("abc", "a__c"));
  EXPECT_FALSE(IsLike("aba", "ab%ba"));
  EXPECT_TRUE(IsLike("abcabd", "%ab_"));
  EXPECT_TRUE(IsLike("50%", "50\\%"));
  EXPECT_FALSE(IsLike("500", "50\\%"));
  EXPECT_TRUE(IsLike("a_b", "a\\_b"));
  EXPECT_FALSE(IsLike("axb", "a\\_b"));
  EXPECT_TRUE(IsLike("a\\b", "a\\\\b"));
  EXPECT_FALSE(IsLike("ABC", "abc"));
}

TEST(LikeTest, AnUnderscoreIsACharacterNotAByte) {
  EXPECT_TRUE(IsLike("caf\xC3\xA9", "caf_"));
  EXPECT_FALSE(IsLike("caf\xC3\xA9", "caf__"));
  EXPECT_TRUE(IsLike("\xC3\xA9t\xC3\xA9", "%t_"));
  EXPECT_TRUE(IsLike("x\xE2\x82\xACy", "%_y"));
  EXPECT_FALSE(IsLike("\xE2\x82\xACy", "%__y"));
}

TEST(LikeTest, APatternDoesNotEndWithABackslash) {
  EXPECT_TRUE(IsPattern("a\\\\"));
  EXPECT_TRUE(IsPattern(""));
  EXPECT_FALSE(IsPattern("a\\"));
  EXPECT_FALSE(IsPattern("\\\\\\"));
}

// The definition, one character after the other.
bool Fits(std::string_view text, std::string_view pattern) {
  if (pattern.empty()) {
    return text.empty();
  }
  if (pattern.front() == '%') {
    return Fits(text, pattern.substr(1)) || (!text.empty() && Fits(text.substr(1), pattern));
  }
  return !text.empty() && (pattern.front() == '_' || pattern.front() == text.front()) &&
         Fits(text.substr(1), pattern.substr(1));
}

TEST(LikeTest, IsItsDefinition) {
  support::SeededRandom random;
  const auto word = [&random](std::string_view letters) {
    std::string text(random.Below(8), ' ');
    for (char& c : text) {
      c = letters[random.Below(letters.size())];
    }
    return text;
  };
  for (int i = 0; i < 20'000; ++i) {
    const std::string text = word("ab");
    const std::string pattern = word("ab%_");
    EXPECT_EQ(IsLike(text, pattern), Fits(text, pattern)) << text << " like " << pattern;
  }
}

TEST(LikeTest, OnlyAsciiIsLowered) {
  EXPECT_EQ(LowerAscii("AzZ9-\xC3\x89"), "azz9-\xC3\x89");
}

}  // namespace
}  // namespace projections::search
