#include "engine/postgres/lives.h"

#include <gmock/gmock.h>

#include "tests/support/status_matchers.h"

namespace engine::postgres {
namespace {

using support::StatusIs;

TEST(LivesTest, ALifeThatAnotherOneFollowedIsOver) {
  Lives lives;
  EXPECT_OK(lives.Judge({"first"}));
  EXPECT_OK(lives.Judge({"first"}));
  EXPECT_OK(lives.Judge({"second"}));
  EXPECT_THAT(lives.Judge({"first"}), StatusIs(absl::StatusCode::kUnavailable))
      << "a paused leader woke up";
  EXPECT_OK(lives.Judge({"second"}));
  EXPECT_OK(lives.Judge({"third"}));
  EXPECT_FALSE(lives.Judge({"second"}).ok());
  EXPECT_FALSE(lives.Judge({"first"}).ok());
}

}  // namespace
}  // namespace engine::postgres
