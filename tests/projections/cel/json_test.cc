#include "projections/cel/json.h"

#include <gtest/gtest.h>

#include "tests/projections/cel/testing.h"

namespace projections::cel {
namespace {

std::string Again(std::string_view json) {
  const auto value = ValueOfJson(json);
  if (!value.ok()) {
    return cel_test::Message(value.status());
  }
  return *JsonOfValue(*value, 10'000);
}

TEST(CelJsonTest, ComesBack) {
  for (const char* const json : {"null", "true", "false", "[]", "{}", "\"\"", "0", "-1.5",
                                 R"({"a":[1,{"b":"x\\\"y"}]})", "\"\u00E9\U0001F600\""}) {
    EXPECT_EQ(Again(json), json);
  }
  EXPECT_EQ(Again(" { \"b\" : 1 , \"a\" : [ ] } "), R"({"a":[],"b":1})");
  EXPECT_EQ(Again(R"("\u00e9\ud83d\ude00\n\/")"), "\"\u00E9\U0001F600\\u000a/\"");
}

TEST(CelJsonTest, NumbersAreDoublesUnlessDigitsWouldBeLost) {
  EXPECT_EQ(ValueOfJson("3")->kind(), Value::Kind::kDouble);
  EXPECT_EQ(ValueOfJson("9007199254740993")->integer(), 9007199254740993);
  EXPECT_EQ(ValueOfJson("18446744073709551615")->natural(), 18446744073709551615ULL);
  EXPECT_EQ(ValueOfJson("-9007199254740993")->integer(), -9007199254740993);
}

TEST(CelJsonTest, NothingElseIsRead) {
  for (const char* const text : {"", "{", "[1", "[1 2]", "{\"a\" 1}", "{1:2}", "\"a", "\"\\x\"",
                                 "\"\\u12\"", "tru", "1x", "1 2", "-"}) {
    EXPECT_FALSE(ValueOfJson(text).ok()) << text;
  }
  EXPECT_TRUE(ValueOfJson(std::string(64, '[') + std::string(64, ']')).ok());
  EXPECT_FALSE(ValueOfJson(std::string(100, '[') + std::string(100, ']')).ok());
}

}  // namespace
}  // namespace projections::cel
