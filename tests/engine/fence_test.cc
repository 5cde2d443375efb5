#include "engine/fence.h"

#include <gtest/gtest.h>

namespace engine {
namespace {

TEST(FenceTest, AFencedErrorIsKnownByItsMarkAndNamesLeaseAndToken) {
  const Fence fence{.lease = "controller", .holder = "secret", .token = 7};
  const absl::Status fenced = FencedError(fence, "another holder has it");

  EXPECT_EQ(fenced.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(std::string(fenced.message()), "lease controller, token 7: another holder has it");
  EXPECT_TRUE(IsFenced(fenced));
}

TEST(FenceTest, NoOtherStatusIsFenced) {
  EXPECT_FALSE(IsFenced(absl::OkStatus()));
  EXPECT_FALSE(IsFenced(absl::FailedPreconditionError("lease controller, token 7: gone")));
}

}  // namespace
}  // namespace engine
