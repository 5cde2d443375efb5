#include "api/feed/feed.h"

#include "engine/base/guard.h"

namespace api {

Feed::PlacePtr Feed::TakeWatch() {
  if (!GUARD("watch.bounded", watches_.fetch_add(1) < options_.max_watches)) {
    watches_.fetch_sub(1);
    return nullptr;
  }
  return std::make_shared<Place>([this] { watches_.fetch_sub(1); });
}

Feed::PlacePtr Feed::TakeRead(const WhenFree& when_free) {
  engine::MutexLock lock(mutex_);
  if (reads_ >= options_.max_reads) {
    if (when_free != nullptr) {
      waiting_.push_back(when_free);
    }
    return nullptr;
  }
  ++reads_;
  return std::make_shared<Place>([this] { GiveReadBack(); });
}

void Feed::GiveReadBack() {
  WhenFree when_free;
  {
    engine::MutexLock lock(mutex_);
    --reads_;
    while (when_free == nullptr && !waiting_.empty()) {
      when_free = waiting_.front().lock();
      waiting_.pop_front();
    }
  }
  if (when_free != nullptr) {
    (*when_free)();
  }
}

}  // namespace api
