// Workers: a few threads for work that must block, such as reading old audit entries.
//
// The I/O thread never blocks, so a handler that has to ask the store for more than a flight
// brings hands the rest of its work over here, with the responder in it. Long lists run here, too,
// and may take seconds each: of several threads one is left to everything else.

#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <vector>

#include "engine/base/mutex.h"
#include "engine/base/thread.h"

namespace api {

enum class Work {
  kLong,   // Can be many, and take seconds each: all together they get all threads but one.
  kShort,  // What writes and proven reads wait for.
};

// Thread-safe; Run never blocks.
class Workers {
 public:
  // REQUIRES: threads > 0.
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
  struct Task {
    std::function<void()> run;
    Work work = Work::kShort;
  };
  using Queue = std::deque<Task>;

  void Loop();
  // The first that may begin now.
  Queue::iterator Next() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::size_t max_queue_;
  const int max_long_;
  engine::Mutex mutex_;
  engine::CondVar arrived_;
  Queue queue_ ABSL_GUARDED_BY(mutex_);
  int long_ ABSL_GUARDED_BY(mutex_) = 0;  // Under way.
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<engine::Thread> threads_;
};

}  // namespace api
