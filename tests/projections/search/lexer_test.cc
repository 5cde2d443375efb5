#include "projections/search/lexer.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace projections::search {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> Words(std::string_view text) {
  const auto tokens = Lex(text);
  std::vector<std::string> words;
  if (!tokens.ok()) {
    words.emplace_back(tokens.status().message());
    return words;
  }
  for (const Token& token : *tokens) {
    words.push_back(std::to_string(static_cast<int>(token.kind)) + ":" + token.text);
  }
  return words;
}

TEST(LexerTest, TellsWordsApart) {
  EXPECT_THAT(Words("name='x'"), ElementsAre("1:name", "6:=", "3:x", "0:"));
  EXPECT_THAT(
      Words(" labels.app.kubernetes.io/part-of <> \"y\" AND\tNot"),
      ElementsAre("1:labels.app.kubernetes.io/part-of", "6:<>", "3:y", "2:and", "2:not", "0:"));
  EXPECT_THAT(Words("in['a',`b`]"), ElementsAre("2:in", "6:[", "3:a", "6:,", "3:b", "6:]", "0:"));
  EXPECT_THAT(Words("generation>-1"), ElementsAre("1:generation", "6:>", "6:-", "4:1", "0:"));
}

TEST(LexerTest, ABackslashTakesTheMeaningOfQuotesOnly) {
  EXPECT_THAT(Words(R"('it\'s')"), ElementsAre("3:it's", "0:"));
  EXPECT_THAT(Words(R"('a\\b')"), ElementsAre(R"(3:a\b)", "0:"));
  EXPECT_THAT(Words(R"('50\%')"), ElementsAre(R"(3:50\%)", "0:"));
  EXPECT_THAT(Words(R"('it''s')"), ElementsAre("3:it", "3:s", "0:"));
}

TEST(LexerTest, NumbersHaveSuffixes) {
  const auto number = [](std::string_view text) {
    const auto tokens = Lex(text);
    EXPECT_TRUE(tokens.ok()) << text;
    return tokens.ok() ? tokens->front().number.ToText() : "";
  };
  EXPECT_EQ(number("10"), "10");
  EXPECT_EQ(number("1.5e3"), "1500");
  EXPECT_EQ(number("1k"), "1000");
  EXPECT_EQ(number("2K"), "2000");
  EXPECT_EQ(number("1Ki"), "1024");
  EXPECT_EQ(number("1.5Mi"), "1572864");
  EXPECT_EQ(number("3G"), "3000000000");
  EXPECT_EQ(number("1Pi"), "1125899906842624");
  EXPECT_THAT(Words("10abc").front(), HasSubstr("position 1: this is no number"));
  EXPECT_THAT(Words("x = 1e9999999").front(), HasSubstr("position 5: the number is out of range"));
}

TEST(LexerTest, TimesNeedNoQuotes) {
  EXPECT_THAT(Words("2026-11-30"), ElementsAre("5:2026-11-30", "0:"));
  EXPECT_THAT(Words("2026-11-30T10:00:00.5+01:00)"),
              ElementsAre("5:2026-11-30T10:00:00.5+01:00", "6:)", "0:"));
}

TEST(LexerTest, NamesThePlaceOfWhatItCannotRead) {
  EXPECT_THAT(Words("name = 'x").front(), HasSubstr("position 8: the quote is not closed"));
  EXPECT_THAT(Words("name ; 'x'").front(), HasSubstr("position 6"));
  EXPECT_THAT(Words("\xC3\xA9").front(), HasSubstr("position 1"));
  EXPECT_THAT(Words("'x\\").front(), HasSubstr("position 1: the quote is not closed"));
}

}  // namespace
}  // namespace projections::search
