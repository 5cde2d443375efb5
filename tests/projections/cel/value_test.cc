#include "projections/cel/value.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace projections::cel {
namespace {

std::string Order(const Value& a, const Value& b) {
  const auto order = Compare(a, b);
  return !order ? "none" : *order < 0 ? "<" : *order > 0 ? ">" : "=";
}

TEST(CelValueTest, NumbersAreComparedExactly) {
  const Value big(std::int64_t{9007199254740993});
  EXPECT_EQ(Order(big, Value(9007199254740992.0)), ">");
  EXPECT_EQ(Order(Value(9007199254740992.0), big), "<");
  EXPECT_EQ(Order(Value(std::int64_t{-1}), Value(std::uint64_t{0})), "<");
  EXPECT_EQ(Order(Value(std::uint64_t{1}), Value(std::int64_t{-1})), ">");
  EXPECT_EQ(Order(Value(std::numeric_limits<std::uint64_t>::max()), Value(18446744073709551616.0)),
            "<");
  EXPECT_EQ(Order(Value(std::int64_t{-3}), Value(-2.5)), "<");
  EXPECT_EQ(Order(Value(std::uint64_t{3}), Value(3.0)), "=");
  EXPECT_EQ(Order(Value(std::nan("")), Value(1.0)), "none");
  EXPECT_EQ(Order(Value(1.0), Value(std::string("1"))), "none");
  EXPECT_EQ(Order(Value(), Value()), "none");
}

TEST(CelValueTest, EqualityCountsWhatItLooksAt) {
  const Value list(Value::List{Value(true), Value(Value::Map{{"a", Value(1.0)}})});
  const Value same(Value::List{Value(true), Value(Value::Map{{"a", Value(std::int64_t{1})}})});
  std::size_t looked_at = 0;
  EXPECT_TRUE(Equal(list, same, looked_at));
  EXPECT_EQ(looked_at, 4u);
  EXPECT_FALSE(Equal(list, Value(Value::List{Value(true)}), looked_at));
  EXPECT_FALSE(
      Equal(Value(Value::Map{{"a", Value()}}), Value(Value::Map{{"b", Value()}}), looked_at));
  EXPECT_TRUE(Equal(Value::Something(Value(1.0)), Value::Something(Value(1.0)), looked_at));
  EXPECT_FALSE(Equal(Value::Something(Value(1.0)), Value::Nothing(), looked_at));
  EXPECT_TRUE(Equal(Value::Nothing(), Value::Nothing(), looked_at));
}

}  // namespace
}  // namespace projections::cel
