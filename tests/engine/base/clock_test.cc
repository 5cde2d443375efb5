#include "engine/base/clock.h"

#include <gtest/gtest.h>

#include "engine/base/random.h"

namespace engine {
namespace {

TEST(TimestampTest, IsShownInUtcWithoutTrailingZeros) {
  EXPECT_EQ(FormatTimestamp({0}), "1970-01-01T00:00:00Z");
  EXPECT_EQ(FormatTimestamp({1'796'051'312'000'125}), "2026-11-30T15:08:32.000125Z");
  EXPECT_EQ(FormatTimestamp({1'796'051'312'500'000}), "2026-11-30T15:08:32.5Z");
  EXPECT_EQ(FormatTimestamp({1'796'051'312'000'001}), "2026-11-30T15:08:32.000001Z");
  EXPECT_EQ(FormatTimestamp({1'796'051'313'000'000}), "2026-11-30T15:08:33Z");
  EXPECT_EQ(FormatTimestamp({-1}), "1969-12-31T23:59:59.999999Z");
  EXPECT_EQ(FormatTimestamp({1'709'164'800'000'000}), "2024-02-29T00:00:00Z");
  EXPECT_EQ(FormatTimestamp({-62'135'596'800'000'000}), "0001-01-01T00:00:00Z");
  EXPECT_EQ(FormatTimestamp({253'402'300'799'999'999}), "9999-12-31T23:59:59.999999Z");
}

TEST(TimestampTest, ParsesRfc3339AndNothingElse) {
  EXPECT_EQ(ParseTimestamp("2026-11-30T15:08:32.000125Z"), (Timestamp{1'796'051'312'000'125}));
  EXPECT_EQ(ParseTimestamp("2026-11-30T16:08:32+01:00"), (Timestamp{1'796'051'312'000'000}));
  for (const char* bad : {"", "2026-11-30", "2026-11-30 15:08:32Z", "2026-02-30T00:00:00Z",
                          "2026-11-30T15:08:32", "2026-11-30T15:08:32.Z", "2026-11-30T25:08:32Z"}) {
    EXPECT_EQ(ParseTimestamp(bad), std::nullopt) << bad;
  }
}

TEST(UuidTest, IsOfVersionSevenAndSortsByTime) {
  const std::string early = NewUuidV7({1'796'051'312'000'000}, SystemRandom());
  const std::string late = NewUuidV7({1'796'051'312'001'000}, SystemRandom());
  ASSERT_EQ(early.size(), 36U);
  EXPECT_EQ(early[14], '7');
  EXPECT_NE(std::string("89ab").find(early[19]), std::string::npos);
  EXPECT_LT(early, late);
}

}  // namespace
}  // namespace engine
