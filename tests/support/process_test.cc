#include "tests/support/process.h"

#include <optional>

#include <unistd.h>

#include "engine/base/thread.h"
#include "tests/support/poll.h"
#include "tests/support/status_matchers.h"

namespace support {
namespace {

engine::Deadline Soon() {
  return engine::Deadline::After(std::chrono::seconds(20));
}

ProcessOptions Shell(const std::string& script) {
  return {.argv = {"sh", "-c", script}};
}

TEST(ProcessTest, OutputAndExitCodeAreKept) {
  ASSERT_OK_AND_ASSIGN(const Finished finished,
                       RunProcess(Shell("echo out; echo err >&2; exit 7"), Soon()));
  EXPECT_EQ(finished.out, "out\n");
  EXPECT_EQ(finished.err, "err\n");
  EXPECT_EQ(finished.exit.code, 7);
  EXPECT_EQ(finished.exit.signal, 0);
}

TEST(ProcessTest, EnvironmentAndDirectoryAreTheCallers) {
  ProcessOptions options = Shell("echo $HALO_PROBE $(pwd)");
  options.env = {"HALO_PROBE=seen"};
  options.working_directory = "/usr";
  ASSERT_OK_AND_ASSIGN(const Finished finished, RunProcess(options, Soon()));
  EXPECT_EQ(finished.out, "seen /usr\n");
}

TEST(ProcessTest, LineIsAwaitedWhileTheProcessRuns) {
  ASSERT_OK_AND_ASSIGN(auto process, Process::Start(Shell("echo a; echo listening on x; read y; "
                                                          "sleep 600")));
  ASSERT_OK_AND_ASSIGN(const std::string line, process->WaitForLine("listening on ", Soon()));
  EXPECT_EQ(line, "listening on x");
  EXPECT_TRUE(process->Running());
}

TEST(ProcessTest, MissingLineEndsWithTheProcess) {
  ASSERT_OK_AND_ASSIGN(auto process, Process::Start(Shell("echo the reason >&2; exit 1")));
  EXPECT_THAT(process->WaitForLine("listening", Soon()),
              StatusIs(absl::StatusCode::kInternal, testing::HasSubstr("the reason")));
}

TEST(ProcessTest, SignalEndsTheProcess) {
  ASSERT_OK_AND_ASSIGN(auto process, Process::Start(Shell("echo up; exec sleep 600")));
  ASSERT_OK(process->WaitForLine("up", Soon()));
  process->Signal(SIGTERM);
  ASSERT_OK_AND_ASSIGN(const ExitStatus exit, process->Wait(Soon()));
  EXPECT_EQ(exit.signal, SIGTERM);
  EXPECT_EQ(exit.code, 128 + SIGTERM);
}

TEST(ProcessTest, WaitGivesUpAtItsDeadline) {
  ASSERT_OK_AND_ASSIGN(auto process, Process::Start(Shell("exec sleep 600")));
  EXPECT_THAT(process->Wait(engine::Deadline::After(std::chrono::milliseconds(1))),
              StatusIs(absl::StatusCode::kDeadlineExceeded));
}

TEST(ProcessTest, ProgramThatIsNotThereIsAnError) {
  EXPECT_THAT(Process::Start({.argv = {"/no/such/program"}}),
              StatusIs(absl::StatusCode::kInternal, testing::HasSubstr("No such file")));
}

TEST(ProcessTest, ChildOutlivesTheThreadThatStartedIt) {
  std::unique_ptr<Process> process;
  {
    engine::Thread starter("starter", [&] {
      auto started = Process::Start(Shell("echo up; read x; exec sleep 600"));
      ASSERT_OK(started);
      process = *std::move(started);
    });
  }
  ASSERT_OK(process->WaitForLine("up", Soon()));
  EXPECT_TRUE(process->Running());
}

TEST(ProcessTest, ChildDiesWithItsParent) {
  // The parent is a copy of this program that starts a child, tells its pid and is killed.
  const char* const marker = std::getenv("HALO_PROCESS_TEST_PARENT");
  if (marker != nullptr) {
    auto child = Process::Start(Shell("exec sleep 600"));
    ASSERT_OK(child);
    std::printf("\nchild %d\n", (*child)->pid());
    std::fflush(stdout);
    (*child)->Wait(engine::Deadline::Infinite()).status().IgnoreError();
    return;
  }
  ASSERT_OK_AND_ASSIGN(
      auto parent, Process::Start({.argv = {"/proc/self/exe",
                                            "--gtest_filter=ProcessTest.ChildDiesWithItsParent"},
                                   .env = {"HALO_PROCESS_TEST_PARENT=1"}}));
  ASSERT_OK_AND_ASSIGN(const std::string line, parent->WaitForLine("child ", Soon()));
  const pid_t child = std::atoi(line.substr(6).c_str());
  ASSERT_GT(child, 0);
  ASSERT_EQ(kill(child, 0), 0);
  parent->Signal(SIGKILL);
  ASSERT_OK(parent->Wait(Soon()));
  EXPECT_TRUE(WaitFor(
      [&] {
        auto state = RunProcess(
            Shell("grep -s '^State:' /proc/" + std::to_string(child) + "/status"), Soon());
        return state.ok() && (state->out.empty() || state->out.find("Z") != std::string::npos);
      },
      Soon()));
}

}  // namespace
}  // namespace support
