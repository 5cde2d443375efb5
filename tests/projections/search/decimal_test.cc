#include "projections/search/decimal.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace projections::search {
namespace {

Decimal Number(std::string_view text) {
  const auto number = Decimal::Parse(text);
  EXPECT_TRUE(number.has_value()) << text;
  return number.value_or(Decimal());
}

TEST(DecimalTest, EqualNumbersAreEqualHoweverTheyAreWritten) {
  for (const auto& spellings : std::vector<std::vector<std::string>>{
           {"0", "-0", "0.000", "0e7", "00"},
           {"1200", "1.2e3", "12E2", "1200.0", "120000e-2", "1.2e+3", "01200"},
           {"-0.05", "-5e-2", "-0.5e-1"}}) {
    for (const std::string& text : spellings) {
      EXPECT_EQ(Number(text), Number(spellings.front())) << text;
      EXPECT_EQ(Number(text).ToText(), Number(spellings.front()).ToText());
    }
  }
}

TEST(DecimalTest, OrderIsThatOfTheNumbers) {
  const std::vector<std::string> rising = {"-1e300",
                                           "-9007199254740993",
                                           "-9007199254740992",
                                           "-10",
                                           "-9.5",
                                           "-9",
                                           "-1e-300",
                                           "0",
                                           "1e-300",
                                           "0.1",
                                           "0.10000000000000000000001",
                                           "0.11",
                                           "9",
                                           "10",
                                           "9007199254740992",
                                           "9007199254740993",
                                           "18446744073709551615",
                                           "1e+20"};
  for (std::size_t a = 0; a < rising.size(); ++a) {
    for (std::size_t b = 0; b < rising.size(); ++b) {
      EXPECT_EQ(Number(rising[a]) <=> Number(rising[b]), a <=> b) << rising[a] << " " << rising[b];
    }
  }
}

TEST(DecimalTest, WhatIsNoNumberIsRefused) {
  for (const char* text : {"", "-", "x", "1.", ".5", "1e", "1e+", "1e+-2", "1.5.5", "1 ", "+1",
                           "0x1", "1e99999999999999999999", "1e1000001", "--1"}) {
    EXPECT_FALSE(Decimal::Parse(text).has_value()) << text;
  }
}

TEST(DecimalTest, IntegersAreExact) {
  EXPECT_EQ(Decimal(-9223372036854775807 - 1), Number("-9223372036854775808"));
  EXPECT_EQ(Number("12e1").Integer(0, 1000), 120);
  EXPECT_EQ(Number("-7").Integer(-7, 0), -7);
  EXPECT_EQ(Number("0").Integer(0, 0), 0);
  EXPECT_EQ(Number("2147483648").Integer(-2147483648, 2147483647), std::nullopt);
  EXPECT_EQ(Number("1.5").Integer(0, 10), std::nullopt);
  EXPECT_EQ(Number("1e30").Integer(0, 10), std::nullopt);
  EXPECT_EQ(Number("9223372036854775808").Integer(0, 9223372036854775807), std::nullopt);
}

TEST(DecimalTest, ProductsAreExact) {
  Decimal number = Number("9007199254740993");
  number.MultiplyBy(1024);
  EXPECT_EQ(number.ToText(), "9223372036854776832");
  number = Number("-0.125");
  number.MultiplyBy(1000);
  EXPECT_EQ(number, Number("-125"));
  number = Number("0");
  number.MultiplyBy(1000);
  EXPECT_EQ(number, Decimal());
  number.Negate();
  EXPECT_EQ(number, Decimal());
}

}  // namespace
}  // namespace projections::search
