#include "api/identity/key_source.h"

#include <fstream>
#include <iterator>
#include <utility>

#include <absl/strings/str_format.h>

#include "engine/base/guard.h"
#include "engine/base/logging.h"
#include "engine/base/status_macros.h"

namespace api {
namespace {

std::string Text(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

absl::StatusOr<KeySet> ReadKeys(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) {
    return absl::NotFoundError(absl::StrFormat("cannot read %s", path));
  }
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  absl::StatusOr<KeySet> keys = KeySet::Parse(text);
  if (!keys.ok()) {
    return absl::InvalidArgumentError(absl::StrFormat("%s: %s", path, Text(keys.status())));
  }
  return keys;
}

}  // namespace

absl::StatusOr<std::unique_ptr<KeySource>> KeySource::Open(KeySourceOptions options) {
  std::unique_ptr<KeySource> source(new KeySource(std::move(options)));
  if (!source->options_.file.empty()) {
    ASSIGN_OR_RETURN(source->from_file_, ReadKeys(source->options_.file));
    engine::MutexLock lock(source->mutex_);
    source->keys_ = std::make_shared<const KeySet>(source->from_file_);
  }
  if (!source->options_.fetch.url.empty()) {
    source->thread_ = engine::Thread("keys", [raw = source.get()] { raw->FetchUntilStopped(); });
  }
  return source;
}

KeySource::~KeySource() {
  stop_ = true;
  {
    engine::MutexLock lock(mutex_);
    changed_.SignalAll();
  }
  thread_.Join();
}

std::shared_ptr<const KeySet> KeySource::Keys() const {
  engine::MutexLock lock(mutex_);
  return keys_;
}

bool KeySource::Refresh(std::function<void()> done) {
  if (options_.fetch.url.empty()) {
    return false;
  }
  engine::MutexLock lock(mutex_);
  if (!fetching_ && !GUARD("jwt.refresh-pause", pause_.HasPassed())) {
    return false;
  }
  waiting_.push_back(std::move(done));
  changed_.SignalAll();
  return true;
}

void KeySource::FetchUntilStopped() {
  do {
    const bool whole = FetchOnce();
    std::vector<std::function<void()>> waiting;
    {
      engine::MutexLock lock(mutex_);
      fetching_ = false;
      waiting.swap(waiting_);
      if (!whole || !waiting.empty()) {
        pause_ = engine::Deadline::After(options_.pause);
      }
      next_ = engine::Deadline::After(whole ? options_.interval : options_.pause);
    }
    if (!stop_) {
      for (const auto& done : waiting) {
        done();
      }
    }
  } while (WaitForWork());
}

bool KeySource::WaitForWork() {
  engine::MutexLock lock(mutex_);
  while (!stop_ && waiting_.empty() && !next_.HasPassed()) {
    changed_.WaitUntil(mutex_, next_);
  }
  fetching_ = true;
  return !stop_;
}

bool KeySource::FetchOnce() {
  absl::StatusOr<KeySet> keys = [this]() -> absl::StatusOr<KeySet> {
    ASSIGN_OR_RETURN(const std::string text, FetchText(options_.fetch, stop_));
    return KeySet::Parse(text);
  }();
  if (!keys.ok()) {
    if (!stop_) {
      failed_.fetch_add(1, std::memory_order_relaxed);
      engine::Log(engine::Severity::kWarning, "an issuer's keys could not be fetched",
                  {{"url", options_.fetch.url}, {"error", Text(keys.status())}});
    }
    return false;
  }
  keys->Add(from_file_);
  fetched_.fetch_add(1, std::memory_order_relaxed);
  engine::MutexLock lock(mutex_);
  keys_ = std::make_shared<const KeySet>(*std::move(keys));
  return true;
}

}  // namespace api
