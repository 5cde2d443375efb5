#include "engine/postgres/reconnect.h"

#include <atomic>
#include <vector>

#include <gtest/gtest.h>

#include "engine/base/thread.h"
#include "tests/support/poll.h"
#include "tests/support/status_matchers.h"

namespace engine::postgres {
namespace {

using support::StatusIs;

constexpr int kCallers = 40;

Deadline Soon() {
  return Deadline::After(std::chrono::seconds(20));
}
absl::Status Away() {
  return absl::UnavailableError("away");
}

class ReconnectTest : public testing::Test {
 protected:
  // All callers want a connection at once; an attempt ends when all have come.
  void ComeAllAtOnce(const absl::Status& outcome, const absl::Status& expected) {
    std::atomic<int> came = 0;
    std::vector<Thread> callers;
    for (int i = 0; i < kCallers; ++i) {
      callers.emplace_back("caller", [&] {
        ++came;
        const absl::Status status = gate_.Run(
            [&] {
              ++attempts_;
              support::WaitFor([&] { return came == kCallers; }, Soon());
              return outcome;
            },
            Soon());
        EXPECT_EQ(status.code(), expected.code());
      });
    }
  }

  ReconnectGate gate_{SystemRandom()};
  std::atomic<int> attempts_ = 0;
};

TEST_F(ReconnectTest, WhileAllIsWellEverybodyConnects) {
  ComeAllAtOnce(absl::OkStatus(), absl::OkStatus());
  EXPECT_EQ(attempts_, kCallers);
}

TEST_F(ReconnectTest, ADatabaseThatIsAwayIsAskedByOneForAll) {
  EXPECT_THAT(gate_.Run(Away, Soon()), StatusIs(absl::StatusCode::kUnavailable));
  ComeAllAtOnce(Away(), Away());
  EXPECT_LE(attempts_, kCallers / 4) << "one for itself, one more for all the others, as a rule";
}

TEST_F(ReconnectTest, OnceItIsBackEverybodyConnects) {
  EXPECT_THAT(gate_.Run(Away, Soon()), StatusIs(absl::StatusCode::kUnavailable));
  ComeAllAtOnce(absl::OkStatus(), absl::OkStatus());
  EXPECT_EQ(attempts_, kCallers);
}

TEST_F(ReconnectTest, WhoCannotWaitIsToldWhyTheLastOneFailed) {
  for (int i = 0; i < 8; ++i) {  // The pause grows.
    EXPECT_FALSE(gate_.Run(Away, Soon()).ok());
  }
  int calls = 0;
  const auto count = [&calls] {
    ++calls;
    return absl::OkStatus();
  };
  EXPECT_THAT(gate_.Run(count, Deadline::After(Duration::zero())),
              StatusIs(absl::StatusCode::kUnavailable, "away"));
  EXPECT_EQ(calls, 0);
  EXPECT_OK(gate_.Run(count, Soon()));
}

TEST_F(ReconnectTest, ATimeThatWasTooShortSaysNothingAboutTheDatabase) {
  EXPECT_FALSE(gate_.Run([] { return absl::DeadlineExceededError("short"); }, Soon()).ok());
  ComeAllAtOnce(absl::OkStatus(), absl::OkStatus());
  EXPECT_EQ(attempts_, kCallers);
}

}  // namespace
}  // namespace engine::postgres
