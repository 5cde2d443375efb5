#include "api/spec_schema/values.h"

#include "tests/api/spec_schema/testing.h"

namespace api {
namespace {

using schema_test::Json;

std::string Compare(std::string_view a, std::string_view b) {
  const auto order = CompareNumbers(Json(a), Json(b));
  EXPECT_EQ(0 <=> order, CompareNumbers(Json(b), Json(a))) << a << " " << b;
  return order < 0 ? "<" : order > 0 ? ">" : "=";
}

TEST(SchemaValuesTest, NumbersAreComparedExactly) {
  EXPECT_EQ(Compare("1", "1.0"), "=");
  EXPECT_EQ(Compare("-0.0", "0"), "=");
  EXPECT_EQ(Compare("9007199254740993", "9007199254740992.0"), ">");
  EXPECT_EQ(Compare("18446744073709551615", "1.8446744073709552e19"), "<");
  EXPECT_EQ(Compare("-9223372036854775808", "-9.223372036854775808e18"), "=");
  EXPECT_EQ(Compare("-3", "-2.5"), "<");
  EXPECT_EQ(Compare("-2", "-2.5"), ">");
  EXPECT_EQ(Compare("2", "2.5"), "<");
  EXPECT_EQ(Compare("-1", "18446744073709551615"), "<");
  EXPECT_EQ(Compare("-1", "-1e300"), ">");
  EXPECT_EQ(Compare("0.1", "0.2"), "<");
}

bool Multiple(std::string_view number, std::string_view divisor) {
  return IsMultipleOf(Json(number), Json(divisor));
}

TEST(SchemaValuesTest, MultiplesAreOfTheDecimalsThatWereWritten) {
  EXPECT_TRUE(Multiple("0.0075", "0.0001"));
  EXPECT_FALSE(Multiple("0.00751", "0.0001"));
  EXPECT_TRUE(Multiple("1e300", "0.5"));
  EXPECT_TRUE(Multiple("12391239123", "1e-8"));
  EXPECT_TRUE(Multiple("0", "7.5"));
  EXPECT_FALSE(Multiple("7", "1e300"));
  EXPECT_TRUE(Multiple("-4.5", "1.5"));
  EXPECT_TRUE(Multiple("18446744073709551615", "5"));
  EXPECT_FALSE(Multiple("18446744073709551615", "10"));
  EXPECT_FALSE(Multiple("0.3", "2"));
}

TEST(SchemaValuesTest, EqualValuesHaveEqualHashes) {
  const std::vector<std::pair<std::string, std::string>> equal = {
      {"1", "1.0"},
      {"1152921504606846976", "1.152921504606846976e18"},
      {R"({"a":1,"b":[1,{}]})", R"({"b":[1.0,{}],"a":1e0})"},
      {"\"x\"", "\"x\""},
  };
  for (const auto& [a, b] : equal) {
    EXPECT_TRUE(EqualValues(Json(a), Json(b))) << a;
    EXPECT_EQ(HashValue(Json(a)), HashValue(Json(b))) << a;
  }
  for (const auto& [a, b] :
       std::vector<std::pair<std::string, std::string>>{{"1", "true"},
                                                        {"0", "false"},
                                                        {"null", "0"},
                                                        {"[1,2]", "[2,1]"},
                                                        {"{}", "[]"},
                                                        {R"({"a":1})", R"({"a":1,"b":1})"},
                                                        {R"({"a":1})", R"({"b":1})"},
                                                        {"1", "\"1\""}}) {
    EXPECT_FALSE(EqualValues(Json(a), Json(b))) << a;
  }
}

TEST(SchemaValuesTest, AllDiffer) {
  EXPECT_TRUE(AllDiffer(Json(R"([1, true, "1", [1], {"a": 1}, {"a": true}, null])").get_array()));
  EXPECT_FALSE(AllDiffer(Json(R"([{"a": 1, "b": 2}, 3, {"b": 2.0, "a": 1}])").get_array()));
}

}  // namespace
}  // namespace api
