#include "tests/support/process.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <functional>

#include <absl/strings/str_format.h>
#include <fcntl.h>
#include <grp.h>
#include <gtest/gtest.h>
#include <linux/close_range.h>
#include <poll.h>
#include <pwd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/base/mutex.h"
#include "engine/base/status_macros.h"
#include "engine/base/thread.h"
#include "tests/support/sanitizers.h"

namespace support {
namespace {

// Starts every child from one thread that never ends. The kernel sends the death signal when the
// *thread* that forked ends, so a child of a short-lived test thread would die with it.
class Spawner {
 public:
  Spawner() : thread_("spawner", [this] { Run(); }) {}

  void Call(const std::function<void()>& body) {
    engine::MutexLock lock(mutex_);
    bool done = false;
    queue_.push_back([&] {
      body();
      engine::MutexLock finished(mutex_);
      done = true;
      changed_.SignalAll();
    });
    changed_.SignalAll();
    while (!done) {
      changed_.Wait(mutex_);
    }
  }

 private:
  [[noreturn]] void Run() {
    while (true) {
      Next()();
    }
  }

  std::function<void()> Next() {
    engine::MutexLock lock(mutex_);
    while (queue_.empty()) {
      changed_.Wait(mutex_);
    }
    std::function<void()> next = std::move(queue_.front());
    queue_.pop_front();
    return next;
  }

  engine::Mutex mutex_;
  engine::CondVar changed_;
  std::deque<std::function<void()>> queue_ ABSL_GUARDED_BY(mutex_);
  engine::Thread thread_;
};

// Never destroyed: its thread ends with the process.
Spawner& TheSpawner() {
  static Spawner* const spawner = new Spawner;
  return *spawner;
}

// All that the child needs between fork and exec, made before: it may not allocate there.
struct Plan {
  std::vector<char*> argv;
  std::vector<std::string> environment;
  std::vector<char*> envp;
  const char* working_directory = nullptr;
  bool change_user = false;
  uid_t uid = 0;
  gid_t gid = 0;
  int death_signal = SIGKILL;
  pid_t parent = 0;
  int in_fd = -1;
  int out_fd = -1;
  int err_fd = -1;
  int failure_fd = -1;
};

std::string NameOf(const std::string& assignment) {
  return assignment.substr(0, assignment.find('=') + 1);
}

absl::Status PrepareUser(const std::string& user, Plan& plan) {
  if (user.empty()) {
    return absl::OkStatus();
  }
  const passwd* account = getpwnam(user.c_str());
  if (account == nullptr) {
    return absl::InvalidArgumentError(absl::StrFormat("no account %s", user));
  }
  plan.change_user = account->pw_uid != geteuid();
  plan.uid = account->pw_uid;
  plan.gid = account->pw_gid;
  return absl::OkStatus();
}

void PrepareArguments(const ProcessOptions& options, Plan& plan) {
  for (const std::string& argument : options.argv) {
    plan.argv.push_back(const_cast<char*>(argument.c_str()));
  }
  plan.argv.push_back(nullptr);
  plan.environment = options.env;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string name = NameOf(*variable);
    const bool replaced = std::any_of(options.env.begin(), options.env.end(),
                                      [&](const auto& own) { return NameOf(own) == name; });
    if (!replaced) {
      plan.environment.emplace_back(*variable);
    }
  }
  for (std::string& variable : plan.environment) {
    plan.envp.push_back(variable.data());
  }
  plan.envp.push_back(nullptr);
  if (!options.working_directory.empty()) {
    plan.working_directory = options.working_directory.c_str();
  }
  plan.death_signal = options.death_signal;
  plan.parent = getpid();
}

[[noreturn]] void FailInChild(const Plan& plan) {
  const int error = errno;
  [[maybe_unused]] const ssize_t ignored = write(plan.failure_fd, &error, sizeof(error));
  _exit(127);
}

// Between fork and exec: system calls only.
[[noreturn]] void RunChild(const Plan& plan) {
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  if (dup2(plan.in_fd, 0) < 0 || dup2(plan.out_fd, 1) < 0 || dup2(plan.err_fd, 2) < 0 ||
      syscall(SYS_close_range, 3U, ~0U, CLOSE_RANGE_CLOEXEC) != 0) {
    FailInChild(plan);
  }
  if (plan.change_user &&
      (setgroups(1, &plan.gid) != 0 || setgid(plan.gid) != 0 || setuid(plan.uid) != 0)) {
    FailInChild(plan);
  }
  if (plan.working_directory != nullptr && chdir(plan.working_directory) != 0) {
    FailInChild(plan);
  }
  // After the change of user, which clears it.
  prctl(PR_SET_PDEATHSIG, plan.death_signal);
  if (getppid() != plan.parent) {
    _exit(127);
  }
  execvpe(plan.argv[0], plan.argv.data(), plan.envp.data());
  FailInChild(plan);
}

int MemoryFile(const char* name) {
  const int fd = memfd_create(name, MFD_CLOEXEC);
  if (fd >= 0) {
    // Append mode, so that two writers of one file do not write over each other.
    fcntl(fd, F_SETFL, O_APPEND);
  }
  return fd;
}

std::string ReadAll(int fd) {
  std::string text;
  char buffer[16384];
  ssize_t got = 0;
  while ((got = pread(fd, buffer, sizeof(buffer), static_cast<off_t>(text.size()))) > 0) {
    text.append(buffer, static_cast<std::size_t>(got));
  }
  return text;
}

std::string Tail(const std::string& text) {
  constexpr std::size_t kShown = 2000;
  return text.size() <= kShown ? text : text.substr(text.size() - kShown);
}

std::optional<std::string> FindLine(const std::string& output, std::string_view text) {
  std::size_t begin = 0;
  for (std::size_t end = output.find('\n'); end != std::string::npos;
       end = output.find('\n', begin)) {
    const std::string_view line = std::string_view(output).substr(begin, end - begin);
    if (line.find(text) != std::string_view::npos) {
      return std::string(line);
    }
    begin = end + 1;
  }
  return std::nullopt;
}

// Blocks for at most `wait`; true when the process ended.
bool PollEnd(int pid_fd, engine::Duration wait) {
  pollfd poller = {.fd = pid_fd, .events = POLLIN, .revents = 0};
  const auto wait_ms = std::chrono::ceil<std::chrono::milliseconds>(
      std::min<engine::Duration>(wait, std::chrono::hours(1)));
  return poll(&poller, 1, static_cast<int>(wait_ms.count())) > 0;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Process>> Process::Start(const ProcessOptions& options) {
  Plan plan;
  RETURN_IF_ERROR(PrepareUser(options.user, plan));
  PrepareArguments(options, plan);
  int failure[2];
  if (pipe2(failure, O_CLOEXEC) != 0) {
    return absl::InternalError(absl::StrFormat("pipe: %s", std::strerror(errno)));
  }
  plan.in_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
  plan.out_fd = MemoryFile("stdout");
  plan.err_fd = MemoryFile("stderr");
  plan.failure_fd = failure[1];
  pid_t pid = -1;
  TheSpawner().Call([&] {
    pid = fork();
    if (pid == 0) {
      RunChild(plan);
    }
  });
  close(plan.in_fd);
  close(failure[1]);
  int error = pid < 0 ? EAGAIN : 0;
  // Ends with the exec, which closes the other end.
  const bool failed = pid < 0 || read(failure[0], &error, sizeof(error)) > 0;
  close(failure[0]);
  const int pid_fd = pid < 0 ? -1 : static_cast<int>(syscall(SYS_pidfd_open, pid, 0U));
  std::unique_ptr<Process> process(new Process(pid, pid_fd, plan.out_fd, plan.err_fd));
  if (failed) {
    return absl::InternalError(
        absl::StrFormat("cannot start %s: %s", options.argv[0], std::strerror(error)));
  }
  return process;
}

Process::~Process() {
  if (pid_ > 0) {
    Signal(SIGKILL);
    // A failure would mean that somebody else reaped our child; there is nothing left to do then.
    Wait(engine::Deadline::Infinite()).status().IgnoreError();
    close(pid_fd_);
    // Its exit code would not tell: most are killed.
    if (const std::string report = SanitizerReport(Stderr()); !report.empty()) {
      ADD_FAILURE() << "process " << pid_ << ":\n" << report;
    }
  }
  close(out_fd_);
  close(err_fd_);
}

bool Process::Running() {
  return !Wait(engine::Deadline::After(engine::Duration::zero())).ok();
}

void Process::Signal(int signal) {
  // Not reaped yet, so the number is still this process'.
  if (!exit_) {
    kill(pid_, signal);
  }
}

absl::StatusOr<ExitStatus> Process::Wait(engine::Deadline deadline) {
  while (!exit_) {
    if (!PollEnd(pid_fd_, deadline.Remaining())) {
      if (deadline.HasPassed()) {
        return absl::DeadlineExceededError(absl::StrFormat("process %d still runs", pid_));
      }
      continue;
    }
    int status = 0;
    if (waitpid(pid_, &status, 0) != pid_) {
      return absl::InternalError(absl::StrFormat("wait for %d: %s", pid_, std::strerror(errno)));
    }
    exit_ = WIFSIGNALED(status)
                ? ExitStatus{.code = 128 + WTERMSIG(status), .signal = WTERMSIG(status)}
                : ExitStatus{.code = WEXITSTATUS(status), .signal = 0};
  }
  return *exit_;
}

absl::StatusOr<std::string> Process::WaitForLine(std::string_view text, engine::Deadline deadline) {
  return WaitForLineOf(out_fd_, text, deadline);
}

absl::StatusOr<std::string> Process::WaitForErrorLine(std::string_view text,
                                                      engine::Deadline deadline) {
  return WaitForLineOf(err_fd_, text, deadline);
}

absl::StatusOr<std::string> Process::WaitForLineOf(int fd, std::string_view text,
                                                   engine::Deadline deadline) {
  while (true) {
    // Asked before the output is read, so that a last line is not missed.
    const bool ended = exit_ || PollEnd(pid_fd_, std::chrono::milliseconds(2));
    if (std::optional<std::string> line = FindLine(ReadAll(fd), text)) {
      return *std::move(line);
    }
    if (ended) {
      return absl::InternalError(absl::StrFormat("process %d ended without a line \"%s\":\n%s",
                                                 pid_, std::string(text), Tail(Stderr())));
    }
    if (deadline.HasPassed()) {
      return absl::DeadlineExceededError(absl::StrFormat("process %d wrote no line \"%s\":\n%s",
                                                         pid_, std::string(text), Tail(Stderr())));
    }
  }
}

std::string Process::Stdout() const {
  return ReadAll(out_fd_);
}

std::string Process::Stderr() const {
  return ReadAll(err_fd_);
}

absl::StatusOr<Finished> RunProcess(const ProcessOptions& options, engine::Deadline deadline) {
  ASSIGN_OR_RETURN(std::unique_ptr<Process> process, Process::Start(options));
  ASSIGN_OR_RETURN(const ExitStatus exit, process->Wait(deadline));
  return Finished{.exit = exit, .out = process->Stdout(), .err = process->Stderr()};
}

absl::Status RunToSuccess(const ProcessOptions& options, engine::Deadline deadline) {
  ASSIGN_OR_RETURN(const Finished finished, RunProcess(options, deadline));
  if (finished.exit.code != 0) {
    return absl::InternalError(absl::StrFormat("%s ended with %d:\n%s", options.argv[0],
                                               finished.exit.code, Tail(finished.err)));
  }
  return absl::OkStatus();
}

}  // namespace support
