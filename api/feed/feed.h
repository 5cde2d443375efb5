// Feed: what all watches of a server share. docs/watch.md.

#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "api/dispatch/store.h"
#include "api/dispatch/workers.h"
#include "engine/base/clock.h"
#include "engine/base/mutex.h"
#include "projections/registry.h"

namespace api {

struct FeedOptions {
  std::uint64_t max_watches = 1000;
  // Of the workers for long work, how many read backlogs at once.
  std::uint64_t max_reads = 2;
  // A watch that has nothing to say says so.
  engine::Duration heartbeat = std::chrono::seconds(15);
  // A client that has been live, and then took nothing for so long that what comes next is no
  // longer in memory, is cut off.
  engine::Duration patience = std::chrono::seconds(5);
};

// Thread-safe; never blocks. Outlives every watch.
class Feed {
 public:
  // All arguments must outlive the object.
  Feed(Store& store, Workers& workers, const projections::Registry& registry,
       const FeedOptions& options = {})
      : store_(store), workers_(workers), registry_(registry), options_(options) {}

  // One of a bounded number of places, held as long as the object lives.
  class Place {
   public:
    explicit Place(std::function<void()> give_back) : give_back_(std::move(give_back)) {}
    ~Place() { give_back_(); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

   private:
    const std::function<void()> give_back_;
  };
  using PlacePtr = std::shared_ptr<Place>;
  // Null: all are taken.
  PlacePtr TakeWatch();
  // The same; where all are taken, `when_free` gets in line, and is called once when one may be
  // free if it still lives then. Null: it is in line already.
  using WhenFree = std::shared_ptr<const std::function<void()>>;
  PlacePtr TakeRead(const WhenFree& when_free);

  struct Counters {
    std::atomic<std::uint64_t> events = 0;   // Records sent.
    std::atomic<std::uint64_t> cut_off = 0;  // Watches ended because their clients were too slow.
    std::atomic<std::uint64_t> gone = 0;     // Because the history they were in is gone.
    std::atomic<std::uint64_t> reads = 0;    // Of the journal, for those that were behind.
  };
  Counters& counters() { return counters_; }
  std::uint64_t watches() const { return watches_.load(); }

  Store& store() { return store_; }
  Workers& workers() { return workers_; }
  const projections::Registry& registry() const { return registry_; }
  const FeedOptions& options() const { return options_; }

 private:
  void GiveReadBack();

  Store& store_;
  Workers& workers_;
  const projections::Registry& registry_;
  const FeedOptions options_;
  std::atomic<std::uint64_t> watches_ = 0;
  Counters counters_;
  engine::Mutex mutex_;
  std::uint64_t reads_ ABSL_GUARDED_BY(mutex_) = 0;
  std::deque<std::weak_ptr<const std::function<void()>>> waiting_
      ABSL_GUARDED_BY(mutex_);  // For a place to read.
};

}  // namespace api
