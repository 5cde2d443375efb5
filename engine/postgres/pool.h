// Pool: a bounded number of connections, with places kept for what must never queue.
//
// A lane is a number of places. A commit does not wait behind flights, a flight not behind scans,
// and neither a heartbeat or the renewal of a lease nor the readiness ping behind anything: these
// two lanes also have a connection of their own. All others are alike. When the database is away,
// one connect at a time is tried (reconnect.h).

#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <absl/status/statusor.h>

#include "engine/base/deadline.h"
#include "engine/base/mutex.h"
#include "engine/postgres/connection.h"
#include "engine/postgres/reconnect.h"

namespace engine::postgres {

enum class Lane { kReady, kCommit, kFlight, kShared, kLease };

// Thread-safe. Acquire blocks until there is a place and, when none is idle, a connection.
class Pool {
 public:
  using Connector = std::function<absl::StatusOr<std::unique_ptr<Connection>>(Lane, Deadline)>;

  // Gives its place back on destruction, and the connection if it is still good.
  class Lease {
   public:
    Lease(Pool* pool, Lane place, std::unique_ptr<Connection> connection);
    Lease(Lease&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)),
          place_(other.place_),
          connection_(std::move(other.connection_)) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease();

    Connection* operator->() const { return connection_.get(); }
    Connection& operator*() const { return *connection_; }

   private:
    friend class Pool;

    Pool* pool_;
    Lane place_;
    std::unique_ptr<Connection> connection_;
  };

  // REQUIRES: options.max_conns >= 5 and options.stats.
  Pool(const Options& options, Connector connector);

  // A connection that was sound a moment ago. A place of another lane is never taken; when the
  // own ones of kCommit or kFlight are gone, one of kShared is.
  //
  // Fails with kDeadlineExceeded (no place in time) and as connecting does, with an earlier
  // attempt's error perhaps.
  absl::StatusOr<Lease> Acquire(Lane lane, Deadline deadline);
  // The same without waiting: nothing when there is no place, or no connection at hand.
  std::optional<Lease> TryAcquire(Lane lane);

 private:
  static constexpr std::size_t kLanes = 5;
  struct Idle {
    std::unique_ptr<Connection> connection;
    Duration since;
  };
  using IdleOnes = std::vector<Idle>;

  bool TakePlace(Lane lane, Lane* place) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  std::unique_ptr<Connection> TakeIdle(Lane lane);
  void GiveBack(Lane place, std::unique_ptr<Connection> connection);
  bool IsStale(const Idle& idle, Duration now) const;
  void MoveStale(Duration now, IdleOnes& closing) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const Connector connector_;
  const std::shared_ptr<Stats> stats_;
  const std::size_t max_idle_;
  const Duration max_lifetime_;
  const Duration max_idle_time_;
  ReconnectGate gate_;
  Mutex mutex_;
  CondVar freed_;
  std::array<int, kLanes> places_ ABSL_GUARDED_BY(mutex_);
  // By lane; those of kShared are for all lanes without connections of their own.
  std::array<IdleOnes, kLanes> idle_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace engine::postgres
