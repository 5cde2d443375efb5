#include "api/dispatch/readiness.h"

#include <algorithm>

#include "engine/base/guard.h"
#include "engine/base/logging.h"
#include "engine/base/reason.h"

namespace api {
namespace {

std::string Text(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

// A schema or a server that does not fit has a reason that an administrator can act on.
std::string Told(const absl::Status& store) {
  if (absl::IsFailedPrecondition(store)) {
    return Text(store);
  }
  const std::string_view sentence = engine::Sentence(engine::ReasonOf(store));
  return std::string(sentence.empty() ? "the store cannot be reached" : sentence);
}

}  // namespace

Readiness::Readiness(Store& store, ReadinessOptions options)
    : store_(store),
      options_(options),
      prober_("ready-probe", options.ping_interval, [this] { Probe(); }) {}

void Readiness::Probe() {
  // The loss may come right after the last probe, and the answer is looked at a moment later.
  const engine::Duration slack = 2 * options_.ping_interval;
  const engine::Duration patience = std::max(options_.ping_timeout - slack, slack);
  const absl::Status now = store_.engine().CheckReady(engine::Deadline::After(patience));
  bool changed = false;
  {
    engine::MutexLock lock(mutex_);
    changed = last_at_.has_value() && last_.ok() != now.ok();
    last_ = now;
    last_at_ = engine::SystemClock().SinceBoot();
  }
  probed_.SignalAll();
  if (changed && now.ok()) {
    engine::Log(engine::Severity::kInfo, "store reachable again", {});
  } else if (changed) {
    engine::Log(engine::Severity::kWarning, "store not reachable", {{"error", Text(now)}});
  }
}

Readiness::State Readiness::Get() const {
  absl::Status store;
  bool probed = false;
  {
    engine::MutexLock lock(mutex_);
    if (draining_) {
      return {"shutting_down", "the server is shutting down"};
    }
    if (!serving_) {
      return {"not_ready", "the server is starting"};
    }
    store = last_;
    probed = last_at_ && engine::SystemClock().SinceBoot() - *last_at_ < options_.max_age;
  }
  if (!GUARD("readiness.probed", probed)) {
    return {"not_ready", "the store has not answered in time"};
  }
  if (!GUARD("readiness.store", store.ok())) {
    return {"not_ready", Told(store)};
  }
  if (const absl::Status writes = store_.heartbeat().CanWrite(options_.max_write_age);
      !GUARD("readiness.writes", writes.ok())) {
    return {"not_ready", Text(writes)};
  }
  if (const absl::Status streams = store_.StreamHealth();
      !GUARD("readiness.streams", streams.ok())) {
    return {"not_ready", Text(streams)};
  }
  return {"ok", ""};
}

void Readiness::WaitForFirstProbe() {
  const engine::Deadline deadline = engine::Deadline::After(options_.ping_timeout);
  store_.heartbeat().WaitForFirst(deadline);
  engine::MutexLock lock(mutex_);
  while (!last_at_.has_value() && probed_.WaitUntil(mutex_, deadline)) {
  }
}

void Readiness::SetServing() {
  engine::MutexLock lock(mutex_);
  serving_ = true;
}

void Readiness::SetDraining() {
  engine::MutexLock lock(mutex_);
  draining_ = true;
}

}  // namespace api
