#include "api/main/signals.h"

#include <csignal>
#include <latch>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace api {
namespace {

// A process that says when it is ready for signals.
class Child {
 public:
  // `body` gets a function to call when signals may come, and returns the exit code.
  template <class Body>
  explicit Child(const Body& body) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    pid_ = fork();
    if (pid_ == 0) {
      _exit(body([&ends] { EXPECT_EQ(write(ends[1], "r", 1), 1); }));
    }
    close(ends[1]);
    char ready = 0;
    EXPECT_EQ(read(ends[0], &ready, 1), 1);
    close(ends[0]);
  }
  void Signal(int number) const { kill(pid_, number); }
  int ExitCode() const {
    int status = 0;
    waitpid(pid_, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_ = 0;
};

[[noreturn]] void WaitForever() {
  std::latch never(1);
  never.wait();
  _exit(99);
}

TEST(SignalsTest, TheFirstIsWaitedFor) {
  for (const int number : {SIGTERM, SIGINT}) {
    const Child child([](const auto& ready) {
      Signals signals;
      signals.Arm();
      ready();
      return signals.Wait();
    });
    child.Signal(number);
    EXPECT_EQ(child.ExitCode(), number);
  }
}

TEST(SignalsTest, HangUpIsNoEnd) {
  const Child child([](const auto& ready) {
    std::signal(SIGHUP, SIG_DFL);  // Who runs the tests may ignore it.
    Signals signals;
    signals.Arm();
    ready();
    return signals.Wait();
  });
  child.Signal(SIGHUP);
  child.Signal(SIGTERM);
  EXPECT_EQ(child.ExitCode(), SIGTERM);
}

TEST(SignalsTest, BeforeThatItEndsTheProcess) {
  const Child child([](const auto& ready) -> int {
    Signals signals;
    ready();
    WaitForever();
  });
  child.Signal(SIGTERM);
  EXPECT_EQ(child.ExitCode(), 128 + SIGTERM);
}

TEST(SignalsTest, TheSecondEndsTheProcess) {
  const Child child([](const auto& ready) -> int {
    Signals signals;
    signals.Arm();
    kill(getpid(), SIGTERM);
    signals.Wait();
    ready();
    WaitForever();
  });
  child.Signal(SIGINT);
  EXPECT_EQ(child.ExitCode(), 128 + SIGINT);
}

}  // namespace
}  // namespace api
