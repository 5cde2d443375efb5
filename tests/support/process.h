// Process: a child process of a test, with its output, that cannot outlive the test.
//
//   ASSERT_OK_AND_ASSIGN(auto server, Process::Start({.argv = {"build/halo-server", "serve"}}));
//   ASSERT_OK_AND_ASSIGN(auto line, server->WaitForLine("listening on ", deadline));
//   server->Signal(SIGKILL);
//   ASSERT_OK_AND_ASSIGN(ExitStatus exit, server->Wait(deadline));

#pragma once

#include <csignal>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>
#include <sys/types.h>

#include "engine/base/deadline.h"

namespace support {

struct ProcessOptions {
  // The program and its arguments. A program without a slash is looked up in PATH.
  std::vector<std::string> argv;
  // `NAME=value`, on top of this process' environment.
  std::vector<std::string> env = {};
  // Empty: this process' own.
  std::string working_directory = {};
  // The account to run as, which only root may name. Empty: this process' own.
  std::string user = {};
  // What the child gets when this process ends, however it ends.
  int death_signal = SIGKILL;
};

struct ExitStatus {
  int code = 0;    // Of exit(); 128 + signal when a signal ended the process.
  int signal = 0;  // Zero when the process exited by itself.
};

// Thread-compatible. Standard output and standard error are kept in memory, however much it is;
// standard input is empty. The child is killed and reaped on destruction, and dies with this
// process. It inherits no other descriptor. A test in which a sanitizer reported something in a
// child fails when the Process is destroyed.
class Process {
 public:
  // Fails with kInvalidArgument for an unknown user and with kInternal when the program cannot be
  // executed.
  static absl::StatusOr<std::unique_ptr<Process>> Start(const ProcessOptions& options);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  pid_t pid() const { return pid_; }
  bool Running();

  // Does nothing once the process has ended.
  void Signal(int signal);

  // Blocks until the process ended. kDeadlineExceeded when it still runs then. May be repeated.
  absl::StatusOr<ExitStatus> Wait(engine::Deadline deadline);

  // Blocks until a whole line of standard output (or error) contains `text`, and returns the
  // line without its newline; the first one from the start of the output.
  // Fails with kDeadlineExceeded, and with kInternal when the process ended without such a line;
  // the message holds the end of its standard error.
  absl::StatusOr<std::string> WaitForLine(std::string_view text, engine::Deadline deadline);
  absl::StatusOr<std::string> WaitForErrorLine(std::string_view text, engine::Deadline deadline);

  // All output so far.
  std::string Stdout() const;
  std::string Stderr() const;

 private:
  Process(pid_t pid, int pid_fd, int out_fd, int err_fd)
      : pid_(pid), pid_fd_(pid_fd), out_fd_(out_fd), err_fd_(err_fd) {}

  absl::StatusOr<std::string> WaitForLineOf(int fd, std::string_view text,
                                            engine::Deadline deadline);

  pid_t pid_;
  int pid_fd_;
  int out_fd_;
  int err_fd_;
  std::optional<ExitStatus> exit_;
};

struct Finished {
  ExitStatus exit;
  std::string out;
  std::string err;
};

// Runs a program to its end. kDeadlineExceeded when it was killed at the deadline.
absl::StatusOr<Finished> RunProcess(const ProcessOptions& options, engine::Deadline deadline);

// As RunProcess; any exit code but 0 is kInternal with the end of its standard error.
absl::Status RunToSuccess(const ProcessOptions& options, engine::Deadline deadline);

}  // namespace support
