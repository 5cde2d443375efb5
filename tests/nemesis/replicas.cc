#include "tests/nemesis/replicas.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>

#include <absl/strings/str_format.h>
#include <boost/json.hpp>

#include "engine/base/status_macros.h"
#include "tests/support/poll.h"

namespace nemesis {
namespace {

engine::Deadline Patience() {
  return engine::Deadline::After(std::chrono::minutes(1));
}

// Between two writes of one writer that failed: the store is away.
void Pause() {
  support::WaitFor([] { return false; }, engine::Deadline::After(std::chrono::milliseconds(20)),
                   std::chrono::milliseconds(20));
}

}  // namespace

absl::StatusOr<Replicas> Replicas::Start(const support::TestStore& store, int count,
                                         const std::vector<std::string>& flags) {
  Replicas replicas;
  for (int i = 0; i < count; ++i) {
    ASSIGN_OR_RETURN(std::unique_ptr<support::HaloServer> server,
                     support::HaloServer::Start(store, flags));
    replicas.servers_.push_back(std::move(server));
  }
  return replicas;
}

absl::StatusOr<support::HttpResponse> Replicas::Get(std::size_t replica,
                                                    const std::string& path) const {
  support::HttpClient client(url(replica));
  return client.Get(path, support::HaloServer::Admin());
}

absl::StatusOr<Names> Replicas::Killed(std::size_t replica) const {
  ASSIGN_OR_RETURN(const support::HttpResponse answer, Get(replica, "/api/v1/killswitch"));
  if (answer.status != 200) {
    return absl::UnavailableError(absl::StrFormat("%d: %s", answer.status, answer.body));
  }
  Names names;
  const boost::json::value list = boost::json::parse(answer.body);
  for (const boost::json::value& killed : list.at("killed").as_array()) {
    names.emplace(killed.at("experiment").as_string());
  }
  return names;
}

double Replicas::Metric(std::size_t replica, const std::string& name) const {
  const auto answer = Get(replica, "/metrics");
  const std::string line = "\n" + name + " ";
  const std::size_t at = answer.ok() ? answer->body.find(line) : std::string::npos;
  return at == std::string::npos ? 0 : std::strtod(&answer->body[at + line.size()], nullptr);
}

absl::StatusOr<std::string> Replicas::Epoch(std::size_t replica) const {
  ASSIGN_OR_RETURN(const support::HttpResponse answer, Get(replica, "/api/v1/streams"));
  if (answer.status != 200) {
    return absl::UnavailableError(absl::StrFormat("%d: %s", answer.status, answer.body));
  }
  return boost::json::serialize(boost::json::parse(answer.body).at("epoch"));
}

absl::StatusOr<support::HttpResponse> Replicas::TryKill(std::size_t replica,
                                                        const std::string& name) const {
  support::HttpClient client(url(replica));
  return client.Post("/api/v1/experiments/" + name + "/kill", R"({"reason":"nemesis"})",
                     support::HaloServer::Admin());
}

bool Replicas::Kill(std::size_t replica, const std::string& name) const {
  const auto answer = TryKill(replica, name);
  return answer.ok() && answer->status == 200;
}

bool Replicas::WaitUntilReady() const {
  return support::WaitFor(
      [&] {
        for (std::size_t i = 0; i < size(); ++i) {
          const auto answer = Get(i, "/readyz");
          if (!answer.ok() || answer->status != 200) {
            return false;
          }
        }
        return true;
      },
      Patience(), std::chrono::milliseconds(20));
}

Load::Load(const Replicas& replicas, int writers, const std::string& prefix)
    : replicas_(replicas), prefix_(prefix) {
  for (int writer = 0; writer < writers; ++writer) {
    threads_.emplace_back("writer", [this, writer] { Write(writer); });
  }
}

void Load::Write(int writer) {
  const std::size_t replica = static_cast<std::size_t>(writer) % replicas_.size();
  for (int i = 0;; ++i) {
    {
      engine::MutexLock lock(mutex_);
      if (stopping_) {
        return;
      }
    }
    const std::string name = absl::StrFormat("%s-%d-%d", prefix_, writer, i);
    if (!replicas_.Kill(replica, name)) {
      Pause();
      continue;
    }
    engine::MutexLock lock(mutex_);
    acknowledged_.insert(name);
    changed_.SignalAll();
  }
}

bool Load::WaitForMore(std::size_t writes) {
  const engine::Deadline deadline = Patience();
  engine::MutexLock lock(mutex_);
  const std::size_t wanted = acknowledged_.size() + writes;
  while (acknowledged_.size() < wanted) {
    if (!changed_.WaitUntil(mutex_, deadline)) {
      return false;
    }
  }
  return true;
}

void Load::Stop() {
  {
    engine::MutexLock lock(mutex_);
    stopping_ = true;
  }
  threads_.clear();
}

Names Load::acknowledged() const {
  engine::MutexLock lock(mutex_);
  return acknowledged_;
}

Names Missing(const Names& a, const Names& b) {
  Names missing;
  std::ranges::set_difference(a, b, std::inserter(missing, missing.begin()));
  return missing;
}

}  // namespace nemesis
