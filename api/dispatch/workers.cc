#include "api/dispatch/workers.h"

#include <exception>
#include <utility>

#include "engine/base/logging.h"

namespace api {

Workers::Workers(int threads, std::size_t max_queue) : max_queue_(max_queue) {
  threads_.reserve(static_cast<std::size_t>(threads));
  for (int i = 0; i < threads; ++i) {
    threads_.emplace_back("worker", [this] { Work(); });
  }
}

Workers::~Workers() {
  std::deque<std::function<void()>> dropped;
  {
    engine::MutexLock lock(mutex_);
    stopping_ = true;
    dropped.swap(queue_);
  }
  dropped.clear();
  arrived_.SignalAll();
  threads_.clear();
}

bool Workers::Run(std::function<void()> task) {
  {
    engine::MutexLock lock(mutex_);
    if (stopping_ || queue_.size() >= max_queue_) {
      return false;
    }
    queue_.push_back(std::move(task));
  }
  arrived_.Signal();
  return true;
}

void Workers::Work() {
  while (true) {
    std::function<void()> task;
    {
      engine::MutexLock lock(mutex_);
      while (queue_.empty() && !stopping_) {
        arrived_.Wait(mutex_);
      }
      if (queue_.empty()) {
        return;
      }
      task = std::move(queue_.front());
      queue_.pop_front();
    }
    try {
      task();
    } catch (const std::exception& e) {
      // What it held is gone with it, so whoever waits for an answer got one.
      engine::Log(engine::Severity::kError, "task threw on a worker", {{"what", e.what()}});
    }
  }
}

}  // namespace api
