#include "api/dispatch/workers.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "engine/base/guard.h"
#include "engine/base/logging.h"

namespace api {

Workers::Workers(int threads, std::size_t max_queue)
    : max_queue_(max_queue), max_long_(std::max(1, threads - 1)) {
  threads_.reserve(static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back("worker", [this] { Loop(); });
  }
}

Workers::~Workers() {
  Queue dropped;
  {
    engine::MutexLock lock(mutex_);
    stopping_ = true;
    dropped.swap(queue_);
  }
  dropped.clear();
  arrived_.SignalAll();
  threads_.clear();
}

bool Workers::Run(std::function<void()> task, Work work) {
  {
    engine::MutexLock lock(mutex_);
    if (stopping_ || queue_.size() >= max_queue_) {
      return false;
    }
    queue_.push_back({std::move(task), work});
  }
  arrived_.Signal();
  return true;
}

Workers::Queue::iterator Workers::Next() {
  const bool room = GUARD("workers.one-for-writes", long_ < max_long_);
  return std::ranges::find_if(
      queue_, [room](const Task& task) { return room || task.work == Work::kShort; });
}

void Workers::Loop() {
  while (true) {
    Task task;
    {
      engine::MutexLock lock(mutex_);
      auto next = Next();
      while (next == queue_.end() && !stopping_) {
        arrived_.Wait(mutex_);
        next = Next();
      }
      if (next == queue_.end()) {
        return;
      }
      task = std::move(*next);
      queue_.erase(next);
      long_ += task.work == Work::kLong ? 1 : 0;
    }
    try {
      std::exchange(task.run, nullptr)();
    } catch (const std::exception& e) {
      // What it held is gone with it, so whoever waits for an answer got one.
      engine::Log(engine::Severity::kError, "task threw on a worker", {{"what", e.what()}});
    }
    // This thread looks at the queue itself; the others wait for what they may begin.
    engine::MutexLock lock(mutex_);
    long_ -= task.work == Work::kLong ? 1 : 0;
  }
}

}  // namespace api
