#include "engine/lease.h"

#include <gtest/gtest.h>

#include "tests/support/status_matchers.h"

namespace engine {
namespace {

using support::StatusIs;

constexpr Timestamp kNewYear{kTokenTimeOrigin};

TEST(LeaseTest, ATokenCarriesTheEpochAndTheTimeOfItsAcquisition) {
  const Timestamp later{kNewYear.micros + 123'900'000};
  EXPECT_EQ(NextToken(0, 3, later), (std::uint64_t{3} << kTokenEpochBits) + 123);
  // A clock from before the origin still makes a token of the epoch.
  EXPECT_EQ(NextToken(0, 3, {0}), (std::uint64_t{3} << kTokenEpochBits) + 1);
}

TEST(LeaseTest, TokensRiseWhateverTheClockDoes) {
  const std::uint64_t first = NextToken(0, 1, {kNewYear.micros + 60'000'000});
  const std::uint64_t at_once = NextToken(first, 1, {kNewYear.micros + 60'000'000});
  EXPECT_EQ(at_once, first + 1);
  EXPECT_EQ(NextToken(at_once, 1, kNewYear), at_once + 1);
  EXPECT_EQ(NextToken(at_once, 2, kNewYear) >> kTokenEpochBits, 2U);
}

TEST(LeaseTest, ALostHistorysTokensAreOvertakenByTime) {
  // The row came back from a backup with an old token, in the same epoch.
  const std::uint64_t backup = NextToken(0, 1, kNewYear);
  const std::uint64_t lost = NextToken(backup, 1, {kNewYear.micros + 5'000'000});
  EXPECT_GT(NextToken(backup, 1, {kNewYear.micros + 6'000'000}), lost);
}

TEST(LeaseTest, NamesHoldersAndTimesHaveLimits) {
  EXPECT_OK(CheckLease("audit-export/sink.1", "h"));
  for (const std::string& name : {std::string(), std::string("A"), std::string("a b"),
                                  std::string(129, 'a'), std::string("a\0b", 3)}) {
    EXPECT_THAT(CheckLease(name, "h"), StatusIs(absl::StatusCode::kInvalidArgument)) << name;
  }
  EXPECT_THAT(CheckLease("a", ""), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(CheckLease("a", std::string(65, 'h')), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_OK(CheckTimeToLive(std::chrono::milliseconds(1)));
  EXPECT_THAT(CheckTimeToLive(Duration::zero()), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(CheckTimeToLive(std::chrono::hours(25)),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

}  // namespace
}  // namespace engine
