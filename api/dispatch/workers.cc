#include "api/dispatch/workers.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "engine/base/guard.h"
#include "engine/base/logging.h"

namespace api {

Workers::Workers(int threads, std::size_t max_queue) : max_queue_(max_queue) {
  const int for_long = std::max(1, threads / 2);
  for (int i = 0; i < std::max(1, threads - for_long); ++i) {
    threads_.emplace_back("worker", [this] { Loop(Work::kShort); });
  }
  for (int i = 0; i < for_long; ++i) {
    threads_.emplace_back("long-worker", [this] {
      engine::GiveWay();
      Loop(Work::kLong);
    });
  }
}

Workers::~Workers() {
  std::deque<std::function<void()>> dropped_short;
  std::deque<std::function<void()>> dropped_long;
  {
    engine::MutexLock lock(mutex_);
    stopping_ = true;
    dropped_short.swap(short_.tasks);
    dropped_long.swap(long_.tasks);
    short_.arrived.SignalAll();
    long_.arrived.SignalAll();
  }
  dropped_short.clear();
  dropped_long.clear();
  threads_.clear();
}

Workers::Queue& Workers::QueueOf(Work work) {
  return GUARD("workers.apart", work == Work::kLong) ? long_ : short_;
}

bool Workers::Run(std::function<void()> task, Work work) {
  engine::MutexLock lock(mutex_);
  Queue& queue = QueueOf(work);
  if (stopping_ || queue.tasks.size() >= max_queue_) {
    return false;
  }
  queue.tasks.push_back(std::move(task));
  queue.arrived.Signal();
  return true;
}

void Workers::Loop(Work work) {
  while (true) {
    std::function<void()> task;
    {
      engine::MutexLock lock(mutex_);
      Queue& queue = QueueOf(work);
      while (queue.tasks.empty() && !stopping_) {
        queue.arrived.Wait(mutex_);
      }
      if (queue.tasks.empty()) {
        return;
      }
      task = std::move(queue.tasks.front());
      queue.tasks.pop_front();
    }
    try {
      std::exchange(task, nullptr)();
    } catch (const std::exception& e) {
      // What it held is gone with it, so whoever waits for an answer got one.
      engine::Log(engine::Severity::kError, "task threw on a worker", {{"what", e.what()}});
    }
  }
}

}  // namespace api
