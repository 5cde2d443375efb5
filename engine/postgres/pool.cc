#include "engine/postgres/pool.h"

#include <utility>

#include "engine/base/guard.h"
#include "engine/base/status_macros.h"

namespace engine::postgres {
namespace {

std::size_t Index(Lane lane) {
  return static_cast<std::size_t>(lane);
}

// One place, never borrowed, and a connection that nobody else gets.
bool HasItsOwn(Lane lane) {
  return lane == Lane::kReady || lane == Lane::kLease;
}

Lane KeeperOf(Lane lane) {
  return GUARD("postgres.own-connection", !HasItsOwn(lane)) ? Lane::kShared : lane;
}

}  // namespace

Pool::Lease::Lease(Pool* pool, Lane place, std::unique_ptr<Connection> connection)
    : pool_(pool), place_(place), connection_(std::move(connection)) {
  ++pool_->stats_->used_connections;
}

Pool::Lease::~Lease() {
  if (pool_ != nullptr) {
    --pool_->stats_->used_connections;
    pool_->GiveBack(place_, std::move(connection_));
  }
}

Pool::Pool(const Options& options, Connector connector)
    : connector_(std::move(connector)),
      stats_(options.stats),
      max_idle_(static_cast<std::size_t>(options.max_idle_conns)),
      max_lifetime_(options.conn_max_lifetime),
      max_idle_time_(options.conn_max_idle_time),
      gate_(SystemRandom()),
      places_{1, 1, options.max_conns > 5 ? 2 : 1,
              options.max_conns > 5 ? options.max_conns - 5 : 1, 1} {}

bool Pool::TakePlace(Lane lane, Lane* place) {
  for (const Lane candidate : {lane, Lane::kShared}) {
    const bool allowed = candidate == lane || !HasItsOwn(lane);
    if (allowed && places_[Index(candidate)] > 0) {
      --places_[Index(candidate)];
      *place = candidate;
      return true;
    }
  }
  return false;
}

// Connections that were made together, when a database came back perhaps, do not all end together:
// up to a tenth of the lifetime is taken off, by the nanosecond in which each was made.
bool Pool::IsStale(const Idle& idle, Duration now) const {
  const Duration made = idle.connection->connected_at();
  const Duration spread = max_lifetime_ / 10 / 1009 * (made.count() % 1009);
  return now - idle.since > max_idle_time_ || now - made > max_lifetime_ - spread;
}

// The one used last is the likeliest to be good. Looking at it costs a system call; what is found
// dead is closed outside the mutex.
std::unique_ptr<Connection> Pool::TakeIdle(Lane lane) {
  for (;;) {
    Idle idle;
    {
      MutexLock lock(mutex_);
      IdleOnes& idle_ones = idle_[Index(KeeperOf(lane))];
      if (idle_ones.empty()) {
        return nullptr;
      }
      idle = std::move(idle_ones.back());
      idle_ones.pop_back();
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
  Lease lease(this, place, TakeIdle(lane));
  if (lease.connection_ == nullptr) {
    RETURN_IF_ERROR(gate_.Run(
        [&]() -> absl::Status {
          ASSIGN_OR_RETURN(lease.connection_, connector_(lane, deadline));
          return absl::OkStatus();
        },
        deadline));
  }
  return lease;
}

std::optional<Pool::Lease> Pool::TryAcquire(Lane lane) {
  Lane place = lane;
  {
    MutexLock lock(mutex_);
    if (!TakePlace(lane, &place)) {
      return std::nullopt;
    }
  }
  Lease lease(this, place, TakeIdle(lane));
  return lease.connection_ == nullptr ? std::nullopt : std::optional<Lease>(std::move(lease));
}

void Pool::MoveStale(Duration now, IdleOnes& closing) {
  for (IdleOnes& idle_ones : idle_) {
    const std::size_t most = &idle_ones == &idle_[Index(Lane::kShared)] ? max_idle_ : 1;
    IdleOnes kept;
    for (Idle& idle : idle_ones) {
      (IsStale(idle, now) ? closing : kept).push_back(std::move(idle));
    }
    while (kept.size() > most) {
      closing.push_back(std::move(kept.front()));
      kept.erase(kept.begin());
    }
    idle_ones = std::move(kept);
  }
}

void Pool::GiveBack(Lane place, std::unique_ptr<Connection> connection) {
  IdleOnes closing;
  const Duration now = SystemClock().SinceBoot();
  {
    MutexLock lock(mutex_);
    ++places_[Index(place)];
    if (connection != nullptr && !connection->broken()) {
      idle_[Index(KeeperOf(place))].push_back({std::move(connection), now});
    }
    MoveStale(now, closing);
    freed_.SignalAll();
  }
}

}  // namespace engine::postgres
