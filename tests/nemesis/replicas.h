// Replicas under load: real servers over one store, writers that kill experiments, and what was
// acknowledged.
//
// Writes are kills: each has a name of its own, so one list says which of them the store has.

#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include <absl/status/statusor.h>

#include "engine/base/mutex.h"
#include "engine/base/thread.h"
#include "tests/support/halo_server.h"

namespace nemesis {

using Names = std::set<std::string>;

// Thread-compatible.
class Replicas {
 public:
  // `count` servers over the store, with further flags.
  static absl::StatusOr<Replicas> Start(const support::TestStore& store, int count,
                                        const std::vector<std::string>& flags = {});

  std::size_t size() const { return servers_.size(); }
  const std::string& url(std::size_t replica) const { return servers_[replica]->url(); }
  support::Process& process(std::size_t replica) { return servers_[replica]->process(); }

  // One answer, or why there is none.
  absl::StatusOr<support::HttpResponse> Get(std::size_t replica, const std::string& path) const;
  // The kill list. Fails with kUnavailable when the answer is not 200.
  absl::StatusOr<Names> Killed(std::size_t replica) const;
  // Of /metrics; 0 when it is not there.
  double Metric(std::size_t replica, const std::string& name) const;
  // The member of /api/v1/streams; fails when the answer is not 200.
  absl::StatusOr<std::string> Epoch(std::size_t replica) const;
  // Kills one experiment; true when that was acknowledged.
  bool Kill(std::size_t replica, const std::string& name) const;
  // The same, and the answer.
  absl::StatusOr<support::HttpResponse> TryKill(std::size_t replica, const std::string& name) const;

  // Waits until every replica says `ok` on /readyz.
  bool WaitUntilReady() const;

 private:
  std::vector<std::unique_ptr<support::HaloServer>> servers_;
};

// Writers on all replicas, from construction to Stop.
class Load {
 public:
  Load(const Replicas& replicas, int writers, const std::string& prefix);
  ~Load() { Stop(); }

  // Waits until this many more writes were acknowledged than now.
  bool WaitForMore(std::size_t writes);
  void Stop();
  // What was acknowledged so far.
  Names acknowledged() const;

 private:
  void Write(int writer);

  const Replicas& replicas_;
  const std::string prefix_;
  mutable engine::Mutex mutex_;
  engine::CondVar changed_;
  bool stopping_ ABSL_GUARDED_BY(mutex_) = false;
  Names acknowledged_ ABSL_GUARDED_BY(mutex_);
  std::vector<engine::Thread> threads_;
};

// Names of `a` that are not in `b`.
Names Missing(const Names& a, const Names& b);

}  // namespace nemesis
