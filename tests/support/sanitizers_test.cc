#include "tests/support/sanitizers.h"

#include <gtest/gtest-spi.h>

#include "tests/support/process.h"
#include "tests/support/status_matchers.h"

namespace support {
namespace {

TEST(SanitizerReportTest, StartsAtTheLineThatSaysWhatItIs) {
  EXPECT_EQ(SanitizerReport("{\"level\":\"warn\"}\n==7==ERROR: LeakSanitizer: detected\n at x\n"),
            "==7==ERROR: LeakSanitizer: detected\n at x\n");
  EXPECT_EQ(SanitizerReport("a.cc:3:1: runtime error: signed integer overflow\n"),
            "a.cc:3:1: runtime error: signed integer overflow\n");
  EXPECT_EQ(SanitizerReport("the server ended\n"), "");
}

TEST(SanitizerReportTest, OfAChildFailsTheTest) {
  EXPECT_NONFATAL_FAILURE(
      {
        const auto finished = RunProcess(
            {.argv = {"sh", "-c", "echo 'WARNING: ThreadSanitizer: data race (pid=1)' >&2"}},
            engine::Deadline::After(std::chrono::seconds(20)));
        ASSERT_OK(finished);
      },
      "data race");
}

}  // namespace
}  // namespace support
