#include "engine/base/reason.h"

#include <gtest/gtest.h>

#include "engine/base/status_macros.h"
#include "tests/support/status_matchers.h"

namespace engine {
namespace {

constexpr Reason kAll[] = {Reason::kDiskFull,  Reason::kLockBusy,    Reason::kForbidden,
                           Reason::kReadOnly,  Reason::kStandbyAway, Reason::kNotSynchronous,
                           Reason::kRebuilding};

TEST(ReasonTest, RidesOnAStatusBesideItsCodeAndItsWords) {
  for (const Reason reason : kAll) {
    const absl::Status status = WithReason(reason, absl::UnavailableError("words"));
    EXPECT_EQ(ReasonOf(status), reason);
    EXPECT_THAT(status, support::StatusIs(absl::StatusCode::kUnavailable, "words"));
    EXPECT_FALSE(Sentence(reason).empty());
  }
}

TEST(ReasonTest, ThereIsNoneWhereNobodyGaveOne) {
  EXPECT_EQ(ReasonOf(absl::UnavailableError("")), Reason::kNone);
  EXPECT_EQ(ReasonOf(absl::OkStatus()), Reason::kNone);
  EXPECT_EQ(ReasonOf(WithReason(Reason::kNone, absl::InternalError(""))), Reason::kNone);
  EXPECT_EQ(Sentence(Reason::kNone), "");
}

TEST(ReasonTest, SurvivesTheWayUpAndNewWords) {
  const auto pass = []() -> absl::Status {
    RETURN_IF_ERROR(WithReason(Reason::kDiskFull, absl::ResourceExhaustedError("below")));
    return absl::OkStatus();
  };
  EXPECT_EQ(ReasonOf(pass()), Reason::kDiskFull);
  EXPECT_EQ(ReasonOf(WithReasonOf(pass(), absl::UnavailableError("above"))), Reason::kDiskFull);
}

}  // namespace
}  // namespace engine
