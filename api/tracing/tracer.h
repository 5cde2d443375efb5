// Tracer: keeps spans until a thread of its own has sent them, a batch at a time.
//
// Traces are worth less than what they are of: what does not fit into the queue, and what a
// collector does not take, is dropped and counted. No request waits for any of it.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/http/trace.h"
#include "api/tracing/post.h"
#include "api/tracing/sampler.h"
#include "api/tracing/span.h"
#include "engine/base/deadline.h"
#include "engine/base/mutex.h"
#include "engine/base/random.h"
#include "engine/base/thread.h"

namespace api {

struct TracerOptions {
  Sampler sampler = Sampler();
  // Who makes the spans: `service.name` and so on.
  std::vector<Attribute> resource;
  std::size_t max_queue = 2048;
  std::size_t max_batch = 512;
  // A batch that is not full waits for this long.
  engine::Duration delay = std::chrono::seconds(5);
  // Before a batch is sent again; twice as long each time.
  engine::Duration retry_pause = std::chrono::seconds(1);
  int max_tries = 5;
  engine::Random& random = engine::SystemRandom();
};

// What a span is known by.
struct SpanIds {
  std::string trace_id;
  std::string span_id;
  std::string parent_id;  // Empty: nobody called.
};

// Thread-safe. Only Flush and destruction block.
class Tracer {
 public:
  // Sends what OtlpJson made, and blocks meanwhile; ends soon after `stop` is set.
  using Send = std::function<Posted(const std::string& json, const std::atomic<bool>& stop)>;

  struct Counters {
    std::atomic<std::uint64_t> exported{0};
    std::atomic<std::uint64_t> dropped_full{0};  // The queue was full.
    // The collector was away for long, or did not want them.
    std::atomic<std::uint64_t> dropped_unsent{0};
    std::atomic<std::uint64_t> failures{0};  // Tries that failed.
  };

  Tracer(TracerOptions options, Send send);
  // Drops what was not sent; see Flush.
  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  // New ids for a request that `parent` called, or nobody. Empty: its trace is not kept.
  std::optional<SpanIds> Begin(const std::optional<TraceContext>& parent);

  void Record(Span span);

  // Sends what there is, each batch once more at most, and takes no more. False when `deadline`
  // came first; what is left then is dropped.
  bool Flush(engine::Deadline deadline);

  const Counters& counters() const { return counters_; }

 private:
  void Run();
  // The next batch; empty: there will be none.
  std::vector<Span> Next();
  void SendBatch(const std::vector<Span>& batch);
  // False: the end has begun, and the next try is the last.
  bool Pause(engine::Duration wait);
  void Warn(const std::string& why);

  const TracerOptions options_;
  const Send send_;
  Counters counters_;
  std::atomic<bool> stop_{false};
  engine::Deadline quiet_ = engine::Deadline::After(engine::Duration(0));  // Of the thread.
  engine::Mutex mutex_;
  engine::CondVar changed_;
  std::vector<Span> queue_ ABSL_GUARDED_BY(mutex_);
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
  engine::Thread thread_;
};

}  // namespace api
