#include "engine/base/guard.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace engine {
namespace {

#if HALO_MUTANTS
constexpr bool kMutants = true;
#else
constexpr bool kMutants = false;
#endif

bool Checked(bool condition) {
  return GUARD("test.checked", condition);
}
bool Other(bool condition) {
  return GUARD("test.other", condition);
}

TEST(GuardTest, IsItsCondition) {
  EXPECT_TRUE(Checked(true));
  EXPECT_FALSE(Checked(false));
}

// The environment is read once in a process, so the mutant has a process of its own.
TEST(GuardDeathTest, IsTakenOutByItsIdAlone) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  ASSERT_EQ(setenv("HALO_MUTANT", "test.checked", 1), 0);
  EXPECT_EXIT(std::_Exit(Checked(false) && !Other(false) && GuardRemoved("test.checked") ? 0 : 1),
              testing::ExitedWithCode(kMutants ? 0 : 1), "");
  unsetenv("HALO_MUTANT");
}

}  // namespace
}  // namespace engine
