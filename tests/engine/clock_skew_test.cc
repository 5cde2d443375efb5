#include "engine/clock_skew.h"

#include <gmock/gmock.h>

#include "tests/support/logs.h"

namespace engine {
namespace {

constexpr std::int64_t kSecond = 1'000'000;

int Warnings() {
  return static_cast<int>(std::ranges::count_if(support::LogLines(), [](const std::string& line) {
    return line.find("are far apart") != std::string::npos;
  }));
}

TEST(ClockSkewTest, IsTakenFromTheMiddleOfTheRoundTrip) {
  ClockSkew skew;
  EXPECT_EQ(skew.seconds(), std::nullopt);
  skew.Observe({100 * kSecond}, {102 * kSecond}, {106 * kSecond});
  EXPECT_EQ(skew.seconds(), 5.0);
  skew.Observe({100 * kSecond}, {102 * kSecond}, {91 * kSecond});
  EXPECT_EQ(skew.seconds(), -10.0);
}

TEST(ClockSkewTest, WarnsOnceOverHalfAMinuteAndAgainWhenItComesBack) {
  ClockSkew skew;
  skew.Observe({0}, {0}, {30 * kSecond});
  EXPECT_EQ(Warnings(), 0);
  skew.Observe({0}, {0}, {31 * kSecond});
  skew.Observe({0}, {0}, {-31 * kSecond});
  EXPECT_EQ(Warnings(), 1);
  skew.Observe({0}, {0}, {0});
  skew.Observe({0}, {0}, {-31 * kSecond});
  EXPECT_EQ(Warnings(), 2);
}

TEST(ClockSkewTest, ASlowAnswerIsNoSkew) {
  ClockSkew skew;
  // It took 100 s, and the store's clock was read somewhere in there.
  skew.Observe({0}, {100 * kSecond}, {99 * kSecond});
  EXPECT_EQ(Warnings(), 0);
}

}  // namespace
}  // namespace engine
