#include "tests/e2e/watcher.h"

#include <memory>
#include <utility>

#include <curl/curl.h>

#include "engine/base/check.h"

namespace e2e {
namespace {

// A server that is gone is not asked all the time.
constexpr engine::Duration kPause = std::chrono::milliseconds(20);

int IsStopped(void* stop, curl_off_t /*total_down*/, curl_off_t /*down*/, curl_off_t /*total_up*/,
              curl_off_t /*up*/) {
  return static_cast<const std::atomic<bool>*>(stop)->load() ? 1 : 0;
}

}  // namespace

Watcher::Watcher(WatcherOptions options)
    : options_(std::move(options)), thread_("watcher", [this] { Run(); }) {}

Watcher::~Watcher() {
  {
    engine::MutexLock lock(mutex_);
    stop_ = true;
    changed_.SignalAll();
  }
  thread_.Join();
}

std::vector<WatchEvent> Watcher::records() const {
  engine::MutexLock lock(mutex_);
  return records_;
}

std::vector<std::string> Watcher::notices() const {
  engine::MutexLock lock(mutex_);
  return notices_;
}

int Watcher::streams() const {
  engine::MutexLock lock(mutex_);
  return streams_;
}

bool Watcher::WaitForRecords(std::size_t count, engine::Deadline deadline) const {
  engine::MutexLock lock(mutex_);
  while (records_.size() < count) {
    if (!changed_.WaitUntil(mutex_, deadline)) {
      return records_.size() >= count;
    }
  }
  return true;
}

void Watcher::Run() {
  while (!stop_) {
    WatchOnce();
    const auto next = engine::Deadline::After(kPause);
    engine::MutexLock lock(mutex_);
    while (!stop_ && changed_.WaitUntil(mutex_, next)) {
    }
  }
}

void Watcher::WatchOnce() {
  buffer_.clear();
  block_ = {};
  const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> curl(curl_easy_init(),
                                                                 curl_easy_cleanup);
  ENGINE_CHECK(curl != nullptr);
  curl_slist* list = nullptr;
  for (const auto& [name, value] : options_.headers) {
    list = curl_slist_append(list, (name + ": " + value).c_str());
  }
  if (!last_id_.empty()) {
    list = curl_slist_append(list, ("Last-Event-ID: " + last_id_).c_str());
  }
  const std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)> headers(list,
                                                                            curl_slist_free_all);
  const std::string url = options_.url() + "/api/v1/watch?" + options_.query;
  curl_easy_setopt(curl.get(), CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl.get(), CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers.get());
  curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, &Watcher::Take);
  curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, this);
  curl_easy_setopt(curl.get(), CURLOPT_NOPROGRESS, 0L);
  curl_easy_setopt(curl.get(), CURLOPT_XFERINFOFUNCTION, IsStopped);
  curl_easy_setopt(curl.get(), CURLOPT_XFERINFODATA, &stop_);
  curl_easy_perform(curl.get());
}

std::size_t Watcher::Take(char* bytes, std::size_t size, std::size_t count, void* self) {
  auto& watcher = *static_cast<Watcher*>(self);
  watcher.buffer_.append(bytes, size * count);
  std::string_view rest = watcher.buffer_;
  for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    watcher.TakeLine(rest.substr(0, end));
    rest.remove_prefix(end + 1);
  }
  watcher.buffer_.erase(0, watcher.buffer_.size() - rest.size());
  return size * count;
}

void Watcher::TakeLine(std::string_view line) {
  if (line.empty()) {
    EndBlock();
  } else if (line.starts_with("id: ")) {
    block_.id = line.substr(4);
  } else if (line.starts_with("event: ")) {
    block_.name = line.substr(7);
  } else if (line.starts_with("data: ")) {
    block_.data += line.substr(6);
  } else if (line.starts_with("retry: ")) {
    engine::MutexLock lock(mutex_);
    ++streams_;
  } else {
    ENGINE_CHECK(line.starts_with(':'));
  }
}

// Only what came whole counts: what follows the last empty line is sent again.
void Watcher::EndBlock() {
  last_id_ = block_.id.empty() ? last_id_ : block_.id;
  WatchEvent ended = std::exchange(block_, {});
  engine::MutexLock lock(mutex_);
  if (!ended.name.empty()) {
    notices_.push_back(std::move(ended.name));
  } else if (!ended.data.empty()) {
    records_.push_back(std::move(ended));
  }
  changed_.SignalAll();
}

}  // namespace e2e
