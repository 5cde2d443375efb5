// Lives: which life of the server answers, and which ones are over.
//
// A server that was replaced can wake up and go on answering on connections that were opened before
// (a paused leader, a partition). Its life was followed by another one that we have met, so
// whatever it says counts for nothing. A server that comes back in earnest was started anew.

#pragma once

#include <optional>
#include <vector>

#include <absl/status/status.h>

#include "engine/base/mutex.h"
#include "engine/journal.h"

namespace engine::postgres {

// Thread-safe; never blocks.
class Lives {
 public:
  // Judges an answer by who gave it. Fails with kUnavailable for a life that another one followed:
  // drop its connection.
  absl::Status Judge(const Origin& origin);

 private:
  Mutex mutex_;
  std::optional<Origin> present_ ABSL_GUARDED_BY(mutex_);
  std::vector<Origin> over_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace engine::postgres
