#include "projections/cel/lexer.h"

#include <gmock/gmock.h>

#include "tests/projections/cel/testing.h"

namespace projections::cel {
namespace {

using cel_test::Result;
using testing::HasSubstr;

TEST(CelLexerTest, TokensSayWhereTheyAre) {
  const auto tokens = Tokens("a.?b // note\n in 0x1F");
  ASSERT_TRUE(tokens.ok());
  ASSERT_EQ(tokens->size(), 6u);
  EXPECT_TRUE((*tokens)[1].Is(".?"));
  EXPECT_TRUE((*tokens)[3].Is("in"));
  EXPECT_EQ((*tokens)[3].offset, 14u);
  EXPECT_EQ((*tokens)[4].literal.integer(), 31);
  EXPECT_EQ((*tokens)[5].kind, Token::Kind::kEnd);
}

TEST(CelLexerTest, Literals) {
  EXPECT_EQ(Result("[0x10, 1u, 1.5, .5, 1e2, 2E-1, true, null]"),
            "[16,1,1.5,0.5,100,0.2,true,null]");
  EXPECT_EQ(Result("-9223372036854775808"), "-9223372036854775808");
  EXPECT_EQ(Result("18446744073709551615u"), "18446744073709551615");
  EXPECT_EQ(Result(R"('a\'b' + "\x41\u00e9\101\U0001F600")"), "\"a'bA\u00E9A\U0001F600\"");
  EXPECT_EQ(Result("'''a'b\"\nc'''"), R"("a'b\"\u000ac")");
  EXPECT_EQ(Result("r'\\d'.size()"), "2");
}

TEST(CelLexerTest, WhatIsNoTokenIsRefused) {
  EXPECT_THAT(Result("'abc"), HasSubstr("does not end"));
  EXPECT_THAT(Result("'a\nb'"), HasSubstr("does not end"));
  EXPECT_THAT(Result("'\\q'"), HasSubstr("an escape"));
  EXPECT_THAT(Result("'\\ud800'"), HasSubstr("an escape"));
  EXPECT_THAT(Result("1 @ 2"), HasSubstr("at byte 2: an unknown character"));
  EXPECT_THAT(Result("9223372036854775808"), HasSubstr("out of range"));
  EXPECT_THAT(Result("0x"), HasSubstr("out of range"));
  EXPECT_THAT(Result("b'abc'"), HasSubstr("bytes are not supported"));
}

}  // namespace
}  // namespace projections::cel
