#include "api/tracing/tracer.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "api/tracing/otlp.h"
#include "engine/base/guard.h"
#include "engine/base/logging.h"

namespace api {
namespace {

// A collector that is away is worth a line now and then.
constexpr engine::Duration kQuiet = std::chrono::minutes(1);

// Hexadecimal digits of random bytes that are not all zero.
std::string RandomId(std::size_t bytes, engine::Random& random) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::array<char, 16> raw{};
  do {
    random.Fill(raw.data(), bytes);
  } while (std::ranges::all_of(raw, [](char c) { return c == 0; }));
  std::string id;
  for (std::size_t i = 0; i < bytes; ++i) {
    const auto byte = static_cast<unsigned char>(raw[i]);
    id += kDigits[byte >> 4];
    id += kDigits[byte & 15];
  }
  return id;
}

}  // namespace

Tracer::Tracer(TracerOptions options, Send send)
    : options_(std::move(options)), send_(std::move(send)), thread_("tracer", [this] { Run(); }) {}

Tracer::~Tracer() {
  stop_ = true;
  {
    engine::MutexLock lock(mutex_);
    ending_ = true;
    changed_.SignalAll();
  }
  thread_.Join();
}

std::optional<SpanIds> Tracer::Begin(const std::optional<TraceContext>& parent) {
  SpanIds ids;
  ids.trace_id = parent ? std::string(parent->trace_id) : RandomId(16, options_.random);
  const std::optional<bool> is_kept = parent ? std::optional(parent->is_sampled) : std::nullopt;
  if (!options_.sampler.Keeps(ids.trace_id, is_kept)) {
    return std::nullopt;
  }
  ids.span_id = RandomId(8, options_.random);
  ids.parent_id = parent ? std::string(parent->parent_id) : "";
  return ids;
}

void Tracer::Record(Span span) {
  engine::MutexLock lock(mutex_);
  if (ending_ || !GUARD("tracing.queue", queue_.size() < options_.max_queue)) {
    ++counters_.dropped_full;
    return;
  }
  queue_.push_back(std::move(span));
  if (queue_.size() == options_.max_batch) {
    changed_.SignalAll();
  }
}

bool Tracer::Flush(engine::Deadline deadline) {
  engine::MutexLock lock(mutex_);
  ending_ = true;
  changed_.SignalAll();
  while (!ended_) {
    if (!changed_.WaitUntil(mutex_, deadline)) {
      stop_ = true;
      return ended_;
    }
  }
  return true;
}

void Tracer::Run() {
  for (std::vector<Span> batch = Next(); !batch.empty(); batch = Next()) {
    SendBatch(batch);
  }
  engine::MutexLock lock(mutex_);
  ended_ = true;
  changed_.SignalAll();
}

std::vector<Span> Tracer::Next() {
  engine::MutexLock lock(mutex_);
  auto deadline = engine::Deadline::After(options_.delay);
  while (!ending_ && queue_.size() < options_.max_batch) {
    if (changed_.WaitUntil(mutex_, deadline)) {
      continue;
    }
    if (!queue_.empty()) {
      break;
    }
    deadline = engine::Deadline::After(options_.delay);
  }
  const auto end =
      queue_.begin() + static_cast<std::ptrdiff_t>(std::min(queue_.size(), options_.max_batch));
  std::vector<Span> batch(std::make_move_iterator(queue_.begin()), std::make_move_iterator(end));
  queue_.erase(queue_.begin(), end);
  return batch;
}

void Tracer::SendBatch(const std::vector<Span>& batch) {
  const std::string json = OtlpJson(options_.resource, batch);
  engine::Duration pause = options_.retry_pause;
  bool is_last = false;
  for (int tries = 1; !stop_; ++tries, pause *= 2) {
    const Posted posted = send_(json, stop_);
    if (posted.outcome == Posted::Outcome::kTaken) {
      const std::uint64_t rejected = std::min<std::uint64_t>(posted.rejected, batch.size());
      counters_.exported += batch.size() - rejected;
      counters_.dropped_unsent += rejected;
      if (rejected > 0) {
        Warn(posted.why);
      }
      return;
    }
    ++counters_.failures;
    Warn(posted.why);
    is_last = is_last || tries == options_.max_tries;
    if (posted.outcome == Posted::Outcome::kRefused || is_last) {
      break;
    }
    is_last = !Pause(std::max(pause, posted.wait));
  }
  counters_.dropped_unsent += batch.size();
}

bool Tracer::Pause(engine::Duration wait) {
  // A collector may ask for any time; the queue is full long before an hour has gone.
  const auto until = engine::Deadline::After(std::min<engine::Duration>(wait, kQuiet));
  engine::MutexLock lock(mutex_);
  while (!ending_ && changed_.WaitUntil(mutex_, until)) {
  }
  return !ending_;
}

void Tracer::Warn(const std::string& why) {
  if (quiet_.HasPassed()) {
    quiet_ = engine::Deadline::After(kQuiet);
    engine::Log(engine::Severity::kWarning, "spans could not be exported", {{"error", why}});
  }
}

}  // namespace api
