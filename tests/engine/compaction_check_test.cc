#include "engine/compaction_check.h"

#include <gmock/gmock.h>

#include "tests/support/row_builder.h"
#include "tests/support/status_matchers.h"
#include "tests/support/toy_fold.h"

namespace engine {
namespace {

using support::kThings;
using support::StatusIs;

class CompactionCheckTest : public testing::Test {
 protected:
  // Rows 1 to 9, floor at 3; a step from there to 7 that removes 2 and 5.
  CompactionCheckTest() {
    tail_.stream = kThings;
    tail_.position = Position{9};
    tail_.floor = {.position = Position{3}, .digest = Digest{33}, .rows = 2, .sum = 20};
    step_.stream = kThings;
    step_.from = tail_.floor;
    step_.to = Position{7};
    step_.digest = Digest{77};
    step_.rows = 4;
    step_.sum = 400;
    step_.remove = {{Position{2}, "a"}, {Position{5}, "b"}};
  }

  absl::StatusCode Judge() const {
    return CheckCompaction(support::Streams(), tail_, step_).code();
  }

  StreamTail tail_;
  CompactionStep step_;
};

TEST_F(CompactionCheckTest, AStepFromTheFloorIsTaken) {
  EXPECT_EQ(Judge(), absl::StatusCode::kOk);
  const Floor after = FloorAfter(step_, 2, 100);
  EXPECT_EQ(after.position, Position{7});
  EXPECT_EQ(after.digest, Digest{77});
  EXPECT_EQ(after.rows, 4U) << "two there were, four more are below the floor, two went";
  EXPECT_EQ(after.sum, 320U);
}

TEST_F(CompactionCheckTest, AFloorRisesAndStaysBelowTheEnd) {
  for (const std::uint64_t to : {3, 2, 9, 10}) {
    step_.to = Position{to};
    step_.remove.clear();
    EXPECT_EQ(Judge(), absl::StatusCode::kInvalidArgument) << to;
  }
}

TEST_F(CompactionCheckTest, WhatIsRemovedIsInOrderAndBelowTheFloor) {
  using Rows = std::vector<RowKey>;
  for (const Rows& rows :
       {Rows{{Position{5}, "b"}, {Position{2}, "a"}}, Rows{{Position{5}, "b"}, {Position{5}, "b"}},
        Rows{{Position{7}, "c"}}, Rows{{Position{0}, "d"}}}) {
    step_.remove = rows;
    EXPECT_EQ(Judge(), absl::StatusCode::kInvalidArgument);
  }
}

TEST_F(CompactionCheckTest, ANewerFloorAbortsTheStep) {
  tail_.floor.position = Position{4};
  EXPECT_EQ(Judge(), absl::StatusCode::kAborted);
  EXPECT_THAT(RowsAreMissing(step_, 1), StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace engine
