// Workers: a few threads for work that must block, such as reading old audit entries.
//
// The I/O thread never blocks, so a handler that has to ask the store for more than a flight
// brings hands the rest of its work over here, with the responder in it. Long reads run here, too,
// and may take seconds each: they have threads of their own, half of all, which get a processor
// only where nobody else of the process wants it.

#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <vector>

#include "engine/base/mutex.h"
#include "engine/base/thread.h"

namespace api {

enum class Work {
  kLong,   // Can be many, and take seconds each: long lists, old audit entries, backlogs.
  kShort,  // What writes and proven reads wait for.
};

// Thread-safe; Run never blocks.
class Workers {
 public:
  // At least one thread, and `max_queue` places to wait, for each sort of work. REQUIRES:
  // threads > 0.
  Workers(int threads, std::size_t max_queue);
  // Finishes the tasks under way and drops those that wait: what they hold is destroyed, so a
  // responder in one answers 500.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // Queues the task. False when the queue is full or the workers are stopping; the task is
  // dropped then.
  bool Run(std::function<void()> task, Work work = Work::kShort);

 private:
  // The tasks of one sort that wait.
  struct Queue {
    std::deque<std::function<void()>> tasks;
    engine::CondVar arrived;
  };

  Queue& QueueOf(Work work) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Loop(Work work);

  const std::size_t max_queue_;
  engine::Mutex mutex_;
  Queue short_ ABSL_GUARDED_BY(mutex_);
  Queue long_ ABSL_GUARDED_BY(mutex_);
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<engine::Thread> threads_;
};

}  // namespace api
