// KeySource: where the keys of an issuer come from: a file that is read once, a URL that is asked
// again and again, or both.
//
// What came last stays in use when the URL cannot be reached, or answers something else than keys.

#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "api/identity/fetch.h"
#include "api/identity/keys.h"
#include "engine/base/deadline.h"
#include "engine/base/mutex.h"
#include "engine/base/thread.h"

namespace api {

struct KeySourceOptions {
  std::string file;
  FetchOptions fetch = {};  // Without a URL nothing is fetched.
  engine::Duration interval = std::chrono::hours(1);
  // After a failure, and between two fetches because of keys that nobody knows: tokens can name
  // any key they like.
  engine::Duration pause = std::chrono::seconds(10);
};

// Thread-safe. Only Open and destruction block.
class KeySource {
 public:
  // Fails with kNotFound or kInvalidArgument when the file cannot be used. Does not wait for the
  // URL.
  static absl::StatusOr<std::unique_ptr<KeySource>> Open(KeySourceOptions options);
  // Drops who waits for keys.
  ~KeySource();
  KeySource(const KeySource&) = delete;
  KeySource& operator=(const KeySource&) = delete;

  // Null while there are none: the first fetch has not succeeded.
  std::shared_ptr<const KeySet> Keys() const;

  // For a key that is not among them. True: `done` is called once the fetch that is under way, or
  // begins now, has ended, on another thread and must not block. False: there is nothing newer to
  // be had for now, and `done` is dropped.
  bool Refresh(std::function<void()> done);

  // Fetches that brought keys, and that did not.
  std::uint64_t fetched() const { return fetched_.load(std::memory_order_relaxed); }
  std::uint64_t failed() const { return failed_.load(std::memory_order_relaxed); }

 private:
  explicit KeySource(KeySourceOptions options) : options_(std::move(options)) {}

  void FetchUntilStopped();
  bool FetchOnce();
  // Returns false when it is time to end.
  bool WaitForWork();

  const KeySourceOptions options_;
  KeySet from_file_;
  std::atomic<bool> stop_{false};
  std::atomic<std::uint64_t> fetched_{0};
  std::atomic<std::uint64_t> failed_{0};
  mutable engine::Mutex mutex_;
  engine::CondVar changed_;
  std::shared_ptr<const KeySet> keys_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::function<void()>> waiting_ ABSL_GUARDED_BY(mutex_);
  bool fetching_ ABSL_GUARDED_BY(mutex_) = true;  // The first fetch begins with the thread.
  engine::Deadline next_ ABSL_GUARDED_BY(mutex_) = engine::Deadline::Infinite();
  // Until then nobody's unknown key is worth a fetch.
  engine::Deadline pause_ ABSL_GUARDED_BY(mutex_) = engine::Deadline::After(engine::Duration(0));
  engine::Thread thread_;
};

}  // namespace api
