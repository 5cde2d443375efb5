#include "api/main/shutdown_limit.h"

#include <latch>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace api {
namespace {

TEST(ShutdownLimitTest, EndsTheProcessThatDoesNotEnd) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // Without a limit this is the end.
    ShutdownLimit limit;
    limit.Start(engine::Deadline::After(std::chrono::milliseconds(1)));
    std::latch never(1);
    never.wait();
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status)) << status;
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

TEST(ShutdownLimitTest, LetsBeWhatEndsInTimeOrHasNotBegunToEnd) {
  bool ended = false;
  {
    const ShutdownLimit never_started([&ended] { ended = true; });
  }
  {
    ShutdownLimit limit([&ended] { ended = true; });
    limit.Start(engine::Deadline::After(std::chrono::minutes(5)));
  }
  EXPECT_FALSE(ended);
}

}  // namespace
}  // namespace api
