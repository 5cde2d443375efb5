// Background: HTTP clients that go on while something else is measured.
//
//   Background writers(url, {.clients = 2, .apart = 40ms}, Round);
//   ... measure ...
//   state.counters["write_p99_us"] = writers.Stop().p99_us;

#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/support/loop.h"
#include "engine/base/mutex.h"
#include "engine/base/thread.h"
#include "tests/support/http_client.h"

namespace bench {

struct BackgroundOptions {
  int clients = 1;
  // Between the beginnings of two rounds of one client; a round that took longer is followed by the
  // next at once, and what was missed is made up for. Zero: there is no pause.
  engine::Duration apart = {};
};

// Thread-compatible.
class Background {
 public:
  // Sends a request and waits for its answer, whose time counts. Ends the program unless it is of
  // 2xx.
  using Ask = std::function<support::HttpResponse(const support::HttpRequest&)>;
  // What a client does in a round; it is called on the client's thread.
  using Round = std::function<void(const Ask& ask)>;

  // Starts the clients of a server.
  Background(const std::string& url, const BackgroundOptions& options, const Round& round);
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  // Waits for the rounds under way. What was measured counts requests, of which a round may have
  // several.
  LoopSummary Stop();

 private:
  void Go(const std::string& url, engine::Duration first, engine::Duration apart,
          const Round& round);
  // False: it is over.
  bool WaitUntil(engine::Duration when);

  const engine::Duration began_;
  engine::Mutex mutex_;
  engine::CondVar stopped_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<double> micros_ ABSL_GUARDED_BY(mutex_);
  std::vector<engine::Thread> threads_;
};

}  // namespace bench
