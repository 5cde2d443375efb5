// Turn lets one thread at a time do something that blocks, without holding a mutex over it.
//
// Thread-safe. Take blocks until it is the caller's turn.

#pragma once

#include "engine/base/deadline.h"
#include "engine/base/mutex.h"

namespace engine::file {

class Turn {
 public:
  // False when `deadline` passed first.
  bool Take(Deadline deadline) {
    MutexLock lock(mutex_);
    while (taken_) {
      if (!left_.WaitUntil(mutex_, deadline) && taken_) {
        return false;
      }
    }
    taken_ = true;
    return true;
  }

  // REQUIRES: the turn was taken.
  void Leave() {
    {
      MutexLock lock(mutex_);
      taken_ = false;
    }
    // All, because one that is woken may find its deadline passed and go away.
    left_.SignalAll();
  }

 private:
  Mutex mutex_;
  CondVar left_;
  bool taken_ ABSL_GUARDED_BY(mutex_) = false;
};

}  // namespace engine::file
