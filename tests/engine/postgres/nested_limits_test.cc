#include "engine/postgres/nested_limits.h"

#include <limits>

#include <gtest/gtest.h>

namespace engine::postgres {
namespace {

// Time stands still.
class StoppedClock final : public Clock {
 public:
  Timestamp Now() const override { return {}; }
  Duration SinceBoot() const override { return std::chrono::hours(1); }
};

TEST(NestedLimitsTest, TheLockEndsBeforeTheStatementAndThatBeforeTheWait) {
  const StoppedClock clock;
  for (std::int64_t left = 5; left < 100'000; left += left / 3 + 1) {
    const Limits limits = LimitsFor(Deadline::After(std::chrono::milliseconds(left), clock));
    EXPECT_LT(limits.lock_ms, limits.statement_ms) << left;
    EXPECT_LT(limits.statement_ms, left) << left;
    EXPECT_GE(limits.lock_ms, 1) << left;
    EXPECT_GE(limits.lock_ms, left - 200) << left;
  }
}

TEST(NestedLimitsTest, NoTimeIsTheLeastThereIs) {
  const StoppedClock clock;
  const Limits limits = LimitsFor(Deadline::After(Duration::zero(), clock));
  EXPECT_EQ(limits.statement_ms, 1);
  EXPECT_EQ(limits.LockText(), "1") << "zero would mean for ever";
}

TEST(NestedLimitsTest, ForEverFitsWhatPostgresTakes) {
  const Limits limits = LimitsFor(Deadline::Infinite());
  EXPECT_LE(limits.statement_ms, std::numeric_limits<std::int32_t>::max());
  EXPECT_LT(limits.lock_ms, limits.statement_ms);
  EXPECT_GT(limits.lock_ms, 1'000'000'000);
}

}  // namespace
}  // namespace engine::postgres
