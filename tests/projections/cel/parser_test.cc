#include "projections/cel/parser.h"

#include <gmock/gmock.h>

#include "tests/projections/cel/testing.h"

namespace projections::cel {
namespace {

using cel_test::Result;
using testing::HasSubstr;
using testing::StartsWith;

TEST(CelParserTest, SaysWhereItStopped) {
  EXPECT_EQ(Result("1 +"), "refused at byte 3: the expression ends too early");
  EXPECT_EQ(Result("1 2"), "refused at byte 2: this cannot stand here");
  EXPECT_EQ(Result("(1"), "refused at byte 2: expected )");
  EXPECT_EQ(Result("1 ? 2"), "refused at byte 5: expected :");
  EXPECT_EQ(Result("w"), "refused at byte 0: nothing is called w");
  EXPECT_EQ(Result("v.nothing()"), "refused at byte 1: there is no function .nothing()");
  EXPECT_EQ(Result("nothing(v)"), "refused at byte 0: there is no function nothing()");
  EXPECT_EQ(Result("size(v, v)"), "refused at byte 5: size() takes another number of arguments");
  EXPECT_THAT(Result("''.matches('(')"), HasSubstr("refused at byte 11: the pattern"));
}

TEST(CelParserTest, WhatIsLeftOutIsRefused) {
  for (const char* const source :
       {"Type{a: 1}", "timestamp('2024-01-01T00:00:00Z')", "duration('1h')", "type(1)", "b''",
        "v.lowerAscii()", "cel.bind(x, 1, x)", "v.optMap(x, x)", "optional.some(1)", "has(v)",
        "has(v.?a)", "[1].all(1, true)", "[1].all(x)", "[1].map(x, true, x, x)", "{1: 2", "[1",
        ".v", "v..a", "v.?a()"}) {
    EXPECT_THAT(Result(source), StartsWith("refused")) << source;
  }
}

TEST(CelParserTest, NamesOfMacrosEndWithThem) {
  EXPECT_EQ(Result("[1].map(v, v + 1)[0] == 2 && v == null"), "true");
  EXPECT_THAT(Result("[1].all(x, true) && x"), HasSubstr("nothing is called x"));
}

TEST(CelParserTest, NestingHasAnEnd) {
  const auto repeat = [](std::string_view text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) {
      all += text;
    }
    return all;
  };
  EXPECT_EQ(Result(repeat("(", 90) + "1" + repeat(")", 90)), "1");
  EXPECT_EQ(Result("1" + repeat(" + 1", 90)), "91");
  for (const std::string& source :
       {repeat("(", 5000) + "1" + repeat(")", 5000), repeat("!", 9000) + "true", repeat("[", 9000),
        "1" + repeat("+1", 5000), "v" + repeat(".a", 5000), repeat("-", 9000) + "1",
        repeat("true?1:", 2000) + "1"}) {
    EXPECT_THAT(Result(source), HasSubstr("nested too deep"));
  }
  EXPECT_THAT(Result(std::string(kMaxSourceBytes + 1, ' ')), HasSubstr("too long"));
}

}  // namespace
}  // namespace projections::cel
