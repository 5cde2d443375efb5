#include "projections/cel/evaluator.h"

#include <gmock/gmock.h>

#include "tests/projections/cel/testing.h"

namespace projections::cel {
namespace {

using cel_test::Result;
using testing::HasSubstr;

TEST(CelEvaluatorTest, Operators) {
  EXPECT_EQ(Result("1 + 2 * 3 - 4 / 2 % 2"), "7");
  EXPECT_EQ(Result("(1 + 2) * 3"), "9");
  EXPECT_EQ(Result("-2 - -3"), "1");
  EXPECT_EQ(Result("!true || !!true"), "true");
  EXPECT_EQ(Result("1 < 2 && 2u >= 2 && 1.5 > 1 && 'b' > 'a' && true > false"), "true");
  EXPECT_EQ(Result("1 == 1.0 && 1u == 1 && 1 != '1' && null == null && [1] == [1.0]"), "true");
  EXPECT_EQ(Result("'a' + \"b\" + r'\\n'"), R"("ab\\n")");
  EXPECT_EQ(Result("[1] + [2, 3]"), "[1,2,3]");
  EXPECT_EQ(Result("2 in [1, 2.0] && !('x' in {'y': 1})"), "true");
  EXPECT_EQ(Result("1 > 2 ? 'a' : 2 > 1 ? 'b' : 'c'"), "\"b\"");
  EXPECT_EQ(Result("{'a': 1, 'b': [true]}"), R"({"a":1,"b":[true]})");
}

TEST(CelEvaluatorTest, Members) {
  EXPECT_EQ(Result("v.a.b[1].c", R"({"a":{"b":[0,{"c":"x"}]}})"), "\"x\"");
  EXPECT_EQ(Result("v['a']", R"({"a":2})"), "2");
  EXPECT_EQ(Result("has(v.a) && !has(v.b)", R"({"a":null})"), "true");
  EXPECT_EQ(Result("v.b", R"({"a":1})"), "error at byte 1: no member b");
  EXPECT_EQ(Result("v[2]", "[1,2]"), "error at byte 1: no such element");
  EXPECT_EQ(Result("v[-1]", "[1,2]"), "error at byte 1: no such element");
  EXPECT_EQ(Result("v[0.5]", "[1,2]"), "error at byte 1: no such element");
  EXPECT_EQ(Result("v.a", "1"), "error at byte 1: the index does not take double and string");
  EXPECT_EQ(Result("has(v.a)", "1"), "error at byte 5: double has no members");
}

TEST(CelEvaluatorTest, Optionals) {
  const char* const v = R"({"a":{"b":[1]}})";
  EXPECT_EQ(Result("v.?a", v), R"(some({"b":[1]}))");
  EXPECT_EQ(Result("v.?x", v), "none");
  EXPECT_EQ(Result("v.?a.b[0]", v), "some(1)");
  EXPECT_EQ(Result("v.?x.b[0]", v), "none");
  EXPECT_EQ(Result("v.a.b[?0].orValue(7) + v.a.b[?1].orValue(7.0)", v), "8");
  EXPECT_EQ(Result("v.?x.or(v.?a).hasValue()", v), "true");
  EXPECT_EQ(Result("optional.of(1).value()"), "1");
  EXPECT_EQ(Result("optional.none().value()"), "error at byte 15: the optional holds nothing");
  EXPECT_EQ(Result("optional.ofNonZeroValue('')"), "none");
  EXPECT_EQ(Result("[?v.?x, ?v.?a, 2]", v), R"([{"b":[1]},2])");
  EXPECT_EQ(Result("{?'k': v.?x, 'l': 1}", v), R"({"l":1})");
  EXPECT_EQ(Result("has(v.?a.b) && !has(v.?x.b)", v), "true");
  EXPECT_THAT(Result("[?1]"), HasSubstr("must be an optional"));
}

TEST(CelEvaluatorTest, Macros) {
  EXPECT_EQ(Result("[1, 2, 3].all(x, x > 0) && ![1, 2].all(x, x > 1)"), "true");
  EXPECT_EQ(Result("[1, 2].exists(x, x == 2) && ![].exists(x, true)"), "true");
  EXPECT_EQ(Result("[1, 2, 2].exists_one(x, x == 1) && ![2, 2].exists_one(x, x == 2)"), "true");
  EXPECT_EQ(Result("[1, 2, 3].filter(x, x != 2).map(y, y * 10)"), "[10,30]");
  EXPECT_EQ(Result("[1, 2, 3].map(x, x > 1, [x].map(y, x + y)[0])"), "[4,6]");
  EXPECT_EQ(Result("{'a': 1, 'b': 2}.filter(k, k != 'a')"), R"(["b"])");
  EXPECT_EQ(Result("1.all(x, true)"), "error at byte 1: int cannot be walked");
  EXPECT_THAT(Result("[1].filter(x, x)"), HasSubstr("the body must be a bool"));
}

// One side that decides outweighs an error on the other, in whatever order.
TEST(CelEvaluatorTest, ErrorsThatDoNotMatterAreNone) {
  EXPECT_EQ(Result("v.x == 1 || true", "{}"), "true");
  EXPECT_EQ(Result("false && v.x == 1", "{}"), "false");
  EXPECT_EQ(Result("v.x == 1 && false", "{}"), "false");
  EXPECT_EQ(Result("[0, 1].exists(i, 1 / i == 1)"), "true");
  EXPECT_EQ(Result("[0, 2].all(i, 1 / i == 1)"), "false");
  EXPECT_THAT(Result("[0, 1].all(i, 1 / i == 1)"), HasSubstr("division by zero"));
  EXPECT_THAT(Result("v.x == 1 || false", "{}"), HasSubstr("no member x"));
  EXPECT_THAT(Result("1 && true"), HasSubstr("take bools"));
  EXPECT_THAT(Result("1 ? 2 : 3"), HasSubstr("must be a bool"));
}

TEST(CelEvaluatorTest, WhatCostsTooMuchIsStopped) {
  const std::string digits = "[0,1,2,3,4,5,6,7,8,9]";
  std::string deep = "true";
  for (const char* const name : {"a", "b", "c", "d", "e"}) {
    deep = digits + ".all(" + name + ", " + deep + ")";
  }
  EXPECT_THAT(Result(deep), HasSubstr("costs more than 10000"));
  // Not even by something that would decide.
  EXPECT_THAT(Result(deep + " || true"), HasSubstr("costs more than 10000"));
  std::string twice = "'0123456789'";
  for (int i = 0; i < 20; ++i) {
    twice = "[" + twice + "].map(s, s + s)[0]";
  }
  EXPECT_THAT(Result(twice), HasSubstr("costs more than 10000"));
}

}  // namespace
}  // namespace projections::cel
