#include "engine/base/check.h"

#include <gtest/gtest.h>

namespace engine {
namespace {

TEST(CheckTest, TrueDoesNothing) {
  int evaluated = 0;
  ENGINE_CHECK(++evaluated == 1);
  EXPECT_EQ(evaluated, 1);
}

TEST(CheckDeathTest, FalseNamesTheConditionAndItsPlace) {
  EXPECT_DEATH(ENGINE_CHECK(1 + 1 == 3), "1 \\+ 1 == 3.*check_test.cc");
}

}  // namespace
}  // namespace engine
