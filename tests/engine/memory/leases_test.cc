// Fences in process: rows that are locked from before they are judged until a commit.

#include "engine/memory/leases.h"

#include <atomic>

#include <gmock/gmock.h>

#include "engine/base/thread.h"
#include "tests/support/clocks.h"
#include "tests/support/poll.h"
#include "tests/support/status_matchers.h"

namespace engine::memory {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using support::StatusIs;

class RowLeasesTest : public testing::Test {
 protected:
  static Deadline Soon() { return Deadline::After(std::chrono::seconds(30)); }
  static Deadline AtOnce() { return Deadline::After(milliseconds(20)); }

  Fence Win(const std::string& name, const std::string& holder) {
    const auto answer = leases_.Acquire(name, holder, minutes(1), Soon());
    EXPECT_OK(answer);
    EXPECT_TRUE(answer.ok() && answer->held);
    return {name, holder, answer.ok() ? answer->token : 0};
  }
  // What a transaction would be told now.
  absl::Status Judged(const Fence& fence) {
    const auto locked = leases_.LockFor({fence}, Soon());
    EXPECT_OK(locked);
    return leases_.Judge(fence);
  }

  support::WallClock clock_{{kTokenTimeOrigin}};
  MemoryRows rows_{clock_};
  RowLeases leases_{rows_};
};

TEST_F(RowLeasesTest, AFenceHoldsForItsTermAndNoLonger) {
  const Fence fence = Win("controller", "a");
  EXPECT_OK(Judged(fence));
  EXPECT_TRUE(IsFenced(Judged({"controller", "b", fence.token})));
  EXPECT_TRUE(IsFenced(Judged({"controller", "a", fence.token + 1})));
  EXPECT_TRUE(IsFenced(Judged({"nobody-ever", "a", fence.token})));
  clock_.Advance(minutes(1) - milliseconds(1));
  EXPECT_OK(Judged(fence));
  clock_.Advance(milliseconds(1));
  EXPECT_TRUE(IsFenced(Judged(fence)));
  const Fence next = Win("controller", "a");
  EXPECT_TRUE(IsFenced(Judged(fence)));
  EXPECT_OK(Judged(next));
  EXPECT_OK(leases_.Release(next, Soon()));
  EXPECT_TRUE(IsFenced(Judged(next)));
}

TEST_F(RowLeasesTest, ATakeoverWaitsForTheWriteUnderTheFence) {
  const Fence fence = Win("controller", "a");
  auto locked = std::make_unique<RowLeases::Locked>(*leases_.LockFor({fence}, Soon()));
  ASSERT_OK(leases_.Judge(fence));
  clock_.Advance(minutes(2));
  EXPECT_THAT(leases_.Acquire("controller", "b", minutes(1), AtOnce()),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  EXPECT_THAT(leases_.Renew(fence, minutes(1), AtOnce()),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
  std::atomic<bool> written = false;
  Thread takeover("takeover", [&] {
    const auto answer = leases_.Acquire("controller", "b", minutes(1), Soon());
    EXPECT_OK(answer);
    EXPECT_TRUE(answer.ok() && answer->held);
    EXPECT_TRUE(written) << "taken over while the old term was writing";
  });
  written = true;
  locked.reset();
  takeover.Join();
  EXPECT_TRUE(IsFenced(Judged(fence)));
}

TEST_F(RowLeasesTest, ARenewalIsNotStarvedByFencedWrites) {
  const Fence fence = Win("controller", "a");
  std::atomic<bool> stop = false;
  std::vector<Thread> writers;
  for (int i = 0; i < 4; ++i) {
    writers.emplace_back("writer", [&] {
      while (!stop) {
        EXPECT_OK(leases_.LockFor({fence}, Soon()).status());
      }
    });
  }
  for (int i = 0; i < 50; ++i) {
    EXPECT_OK(leases_.Renew(fence, minutes(1), Soon()).status());
  }
  stop = true;
  writers.clear();
}

TEST_F(RowLeasesTest, OverlappingFencesDoNotDeadlock) {
  const Fence a = Win("a", "h");
  const Fence b = Win("b", "h");
  std::vector<Thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back("fences", [&, i] {
      for (int round = 0; round < 200; ++round) {
        EXPECT_OK(
            leases_.LockFor(i % 2 == 0 ? std::vector{a, b} : std::vector{b, a}, Soon()).status());
      }
    });
  }
  threads.clear();
}

TEST_F(RowLeasesTest, AnExpiryFromAClockThatWasSetBackCountsAsPassed) {
  clock_.Advance(std::chrono::hours(10));
  const Fence fence = Win("controller", "a");
  clock_.Advance(-std::chrono::hours(9));
  // Nobody could take over for nine hours otherwise.
  const Fence next = Win("controller", "b");
  EXPECT_GT(next.token, fence.token);
  ASSERT_OK_AND_ASSIGN(const LeaseAnswer lost, leases_.Renew(fence, minutes(1), Soon()));
  EXPECT_FALSE(lost.held);
}

}  // namespace
}  // namespace engine::memory
