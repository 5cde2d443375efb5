#include "projections/cel/functions.h"

#include <gmock/gmock.h>

#include "tests/projections/cel/testing.h"

namespace projections::cel {
namespace {

using cel_test::Result;
using testing::HasSubstr;

TEST(CelFunctionsTest, Texts) {
  EXPECT_EQ(Result("size('\u00E9\u00E9') + [1].size() + size({'a': 1})"), "4");
  EXPECT_EQ(Result("'abc'.startsWith('ab') && 'abc'.endsWith('bc') && 'abc'.contains('b')"),
            "true");
  EXPECT_EQ(Result("'v1.2'.matches('^v[0-9]+') && !matches('x', '^y$')"), "true");
  EXPECT_EQ(Result("'aa'.matches(v)", "\"^a+$\""), "true");
  EXPECT_THAT(Result("'a'.matches(v)", "\"(\""), HasSubstr("missing )"));
  EXPECT_THAT(Result("size(1)"), HasSubstr("size() does not take int"));
  EXPECT_THAT(Result("v.startsWith('a')", "1"), HasSubstr("does not take double and string"));
}

TEST(CelFunctionsTest, Conversions) {
  EXPECT_EQ(Result("int('12') + int(3.9) + int(4u)"), "19");
  EXPECT_EQ(Result("string(1) + string(1.5) + string(true) + string(v)", "3"), "\"11.5true3\"");
  EXPECT_EQ(Result("double('1e3') + double(1)"), "1001");
  EXPECT_EQ(Result("uint(7) == 7u && bool('true') && dyn(1) == 1"), "true");
  EXPECT_THAT(Result("int('x')"), HasSubstr("the text is no number"));
  EXPECT_THAT(Result("int(1e30)"), HasSubstr("out of range"));
  EXPECT_THAT(Result("uint(-1)"), HasSubstr("out of range"));
  EXPECT_THAT(Result("string([])"), HasSubstr("does not take list"));
}

TEST(CelFunctionsTest, ArithmeticStaysInItsKind) {
  EXPECT_EQ(Result("7 / 2"), "3");
  EXPECT_EQ(Result("v / 2.0", "7"), "3.5");
  EXPECT_THAT(Result("1 + 1.0"), HasSubstr("does not take int and double"));
  EXPECT_THAT(Result("1 / 0"), HasSubstr("division by zero"));
  EXPECT_THAT(Result("9223372036854775807 + 1"), HasSubstr("out of range"));
  EXPECT_THAT(Result("-9223372036854775808 / -1"), HasSubstr("out of range"));
  EXPECT_THAT(Result("0u - 1u"), HasSubstr("out of range"));
  EXPECT_THAT(Result("1.5 % 1.0"), HasSubstr("takes no doubles"));
  EXPECT_THAT(Result("1 < 'a'"), HasSubstr("does not take int and string"));
}

TEST(CelFunctionsTest, DigEndsInNull) {
  const char* const v = R"({"a":{"b":[{"c":1}]}})";
  EXPECT_EQ(Result("dig(v, 'a.b.0.c')", v), "1");
  for (const char* const path : {"a.x", "a.b.1", "a.b.x", "a.b.0.c.d", "", "a..b"}) {
    EXPECT_EQ(Result("dig(v, '" + std::string(path) + "')", v), "null") << path;
  }
}

TEST(CelFunctionsTest, ToJsonHasALimit) {
  EXPECT_EQ(Result("toJson(v)", R"({"b":[1.5,null],"a":"\"\u0001"})"),
            R"("{\"a\":\"\\\"\\u0001\",\"b\":[1.5,null]}")");
  EXPECT_THAT(Result("toJson(v)", "\"" + std::string(kMaxJsonBytes, 'x') + "\""),
              HasSubstr("JSON of more than"));
  EXPECT_THAT(Result("toJson([optional.none()])"), HasSubstr("an optional is no JSON"));
}

}  // namespace
}  // namespace projections::cel
