// The commands that wait for Committer's next transaction, and those that wait no longer.

#include <algorithm>
#include <iterator>
#include <utility>

#include "engine/base/guard.h"
#include "engine/base/reason.h"
#include "engine/committer.h"

namespace engine {
namespace {

void FailAll(std::deque<PendingCommand>& commands, const absl::Status& why) {
  for (PendingCommand& pending : commands) {
    pending.command->Finish({.kind = CommandOutcome::Kind::kFailed, .why = why});
  }
}

}  // namespace

void Committer::Submit(std::unique_ptr<Command> command) {
  absl::Status refusal;
  bool sooner = false;
  {
    MutexLock lock(mutex_);
    if (stopping_) {
      refusal = absl::UnavailableError("shutting down");
    } else if (!GUARD("committer.queue", waiting_.size() < options_.max_queue)) {
      refusal = absl::ResourceExhaustedError("too many writers wait for the journal");
    } else {
      sooner = command->deadline() < watched_;
      waiting_.push_back({.command = std::move(command)});
    }
  }
  if (!refusal.ok()) {
    // NOLINTNEXTLINE(bugprone-use-after-move): moved only if it was not refused.
    command->Finish({.kind = CommandOutcome::Kind::kFailed, .why = refusal});
    return;
  }
  arrived_.Signal();
  if (sooner) {
    watch_.Signal();
  }
}

std::optional<Deadline> Committer::WaitForCommands() {
  MutexLock lock(mutex_);
  while (waiting_.empty() && !stopping_) {
    arrived_.Wait(mutex_);
  }
  if (stopping_) {
    return std::nullopt;
  }
  Deadline latest = waiting_.front().command->deadline();
  for (const PendingCommand& pending : waiting_) {
    const Deadline deadline = pending.command->deadline();
    latest = latest < deadline ? deadline : latest;
  }
  return latest;
}

Committer::Commands Committer::TakeWaiting() {
  MutexLock lock(mutex_);
  return std::exchange(waiting_, {});
}

void Committer::PutBack(Commands commands) {
  bool sooner = false;
  {
    MutexLock lock(mutex_);
    for (auto pending = commands.rbegin(); pending != commands.rend(); ++pending) {
      sooner = sooner || pending->command->deadline() < watched_;
      waiting_.push_front(std::move(*pending));
    }
  }
  if (sooner) {
    watch_.Signal();
  }
}

void Committer::GiveUp(Deadline given_up, const absl::Status& why) {
  Commands late;
  {
    MutexLock lock(mutex_);
    const auto first = std::stable_partition(waiting_.begin(), waiting_.end(),
                                             [given_up](const PendingCommand& pending) {
                                               return given_up < pending.command->deadline();
                                             });
    std::move(first, waiting_.end(), std::back_inserter(late));
    waiting_.erase(first, waiting_.end());
  }
  FailAll(late, WithReasonOf(why, absl::DeadlineExceededError("the journal's lock was not free")));
}

void Committer::WatchDeadlines() {
  while (true) {
    Deadline passed = Deadline::Infinite();
    {
      MutexLock lock(mutex_);
      while (!stopping_) {
        watched_ = Deadline::Infinite();
        for (const PendingCommand& pending : waiting_) {
          watched_ = watched_.EarlierOf(pending.command->deadline());
        }
        if (watched_.HasPassed()) {
          passed = watched_;
          break;
        }
        watch_.WaitUntil(mutex_, watched_);
      }
      if (stopping_) {
        return;
      }
    }
    GiveUp(passed, absl::OkStatus());
  }
}

void Committer::FailWaiting(const absl::Status& why) {
  Commands commands = TakeWaiting();
  FailAll(commands, why);
}

}  // namespace engine
