// Watcher: a client of `/api/v1/watch` as it should be: whenever its connection ends, however it
// does, it goes on at the next server from the last id that it took.
//
//   Watcher watcher({.urls = [] { return url; }, .query = "streams=resources&cursor=" + cursor});
//   ASSERT_TRUE(watcher.WaitForEvents(10, Deadline::After(minutes(1))));
//
// On libcurl rather than on HttpClient, which reads whole answers.

#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "engine/base/deadline.h"
#include "engine/base/mutex.h"
#include "engine/base/thread.h"
#include "tests/support/http_client.h"

namespace e2e {

struct WatchEvent {
  std::string name;  // Empty: a record.
  std::string id;
  std::string data;
};

struct WatcherOptions {
  // Asked before each connection, by the watcher's thread.
  std::function<std::string()> url;
  std::string query;
  support::HttpHeaders headers = {};
};

// Thread-safe; watches from construction to destruction, on a thread of its own.
class Watcher {
 public:
  explicit Watcher(WatcherOptions options);
  ~Watcher();
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  // Records that came so far, in their order. Events with a name are not among them.
  std::vector<WatchEvent> records() const;
  // Names of the others.
  std::vector<std::string> notices() const;
  // Connections that were answered with a stream.
  int streams() const;

  // Blocks until there are `count` records in all; false when `deadline` passed first.
  bool WaitForRecords(std::size_t count, engine::Deadline deadline) const;

 private:
  static std::size_t Take(char* bytes, std::size_t size, std::size_t count, void* self);
  void Run();
  // One connection, to its end.
  void WatchOnce();
  void TakeLine(std::string_view line);
  void EndBlock();

  const WatcherOptions options_;
  std::atomic<bool> stop_{false};
  // Of the thread.
  std::string buffer_;
  WatchEvent block_;
  std::string last_id_;
  mutable engine::Mutex mutex_;
  mutable engine::CondVar changed_;
  std::vector<WatchEvent> records_ ABSL_GUARDED_BY(mutex_);
  std::vector<std::string> notices_ ABSL_GUARDED_BY(mutex_);
  int streams_ ABSL_GUARDED_BY(mutex_) = 0;
  engine::Thread thread_;
};

}  // namespace e2e
