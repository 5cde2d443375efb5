#include "engine/postgres/pool.h"

#include <utility>

#include "engine/base/status_macros.h"

namespace engine::postgres {
namespace {

std::size_t Index(Lane lane) {
  return static_cast<std::size_t>(lane);
}

}  // namespace

Pool::Lease::~Lease() {
  if (pool_ != nullptr) {
    pool_->GiveBack(place_, std::move(connection_));
  }
}

Pool::Pool(const Options& options, Connector connector)
    : connector_(std::move(connector)),
      max_idle_(static_cast<std::size_t>(options.max_idle_conns)),
      max_lifetime_(options.conn_max_lifetime),
      max_idle_time_(options.conn_max_idle_time),
      places_{1, 1, options.max_conns > 5 ? 2 : 1,
              options.max_conns > 5 ? options.max_conns - 5 : 1, 1} {}

bool Pool::TakePlace(Lane lane, Lane* place) {
  for (const Lane candidate : {lane, Lane::kShared}) {
    const bool allowed = candidate == lane || lane != Lane::kReady;
    if (allowed && places_[Index(candidate)] > 0) {
      --places_[Index(candidate)];
      *place = candidate;
      return true;
    }
  }
  return false;
}

bool Pool::IsStale(const Idle& idle, Duration now) const {
  return now - idle.since > max_idle_time_ || now - idle.connection->connected_at() > max_lifetime_;
}

// The one used last is the likeliest to be good. Looking at it costs a system call; what is found
// dead is closed outside the mutex.
std::unique_ptr<Connection> Pool::TakeIdle() {
  for (;;) {
    Idle idle;
    {
      MutexLock lock(mutex_);
      if (idle_.empty()) {
        return nullptr;
      }
      idle = std::move(idle_.back());
      idle_.pop_back();
    }
    if (!IsStale(idle, SystemClock().SinceBoot()) && idle.connection->CheckOpen()) {
      return std::move(idle.connection);
    }
  }
}

absl::StatusOr<Pool::Lease> Pool::Acquire(Lane lane, Deadline deadline) {
  Lane place = lane;
  {
    MutexLock lock(mutex_);
    while (!TakePlace(lane, &place)) {
      if (!freed_.WaitUntil(mutex_, deadline) && deadline.HasPassed()) {
        return absl::DeadlineExceededError("all database connections are in use");
      }
    }
  }
  Lease lease(this, place, TakeIdle());
  if (lease.connection_ == nullptr) {
    ASSIGN_OR_RETURN(lease.connection_, connector_(deadline));
  }
  return lease;
}

void Pool::GiveBack(Lane place, std::unique_ptr<Connection> connection) {
  std::vector<Idle> closing;
  const Duration now = SystemClock().SinceBoot();
  {
    MutexLock lock(mutex_);
    ++places_[Index(place)];
    if (connection != nullptr && !connection->broken()) {
      idle_.push_back({std::move(connection), now});
    }
    while (!idle_.empty() && (idle_.size() > max_idle_ || IsStale(idle_.front(), now))) {
      closing.push_back(std::move(idle_.front()));
      idle_.erase(idle_.begin());
    }
    freed_.SignalAll();
  }
}

}  // namespace engine::postgres
