// PostgresLeases: the seam of engine/lease.h in SQL, and how a transaction asks for its fences.

#pragma once

#include <vector>

#include "engine/lease.h"
#include "engine/postgres/pool.h"
#include "engine/postgres/statements.h"

namespace engine::postgres {

// Thread-safe; its calls block. Each is one round trip on a connection that nothing else can take.
class PostgresLeases final : public Leases {
 public:
  // `statements` and `pool` must outlive it.
  PostgresLeases(const Statements& statements, Pool& pool) : statements_(statements), pool_(pool) {}

  absl::StatusOr<LeaseAnswer> Acquire(const std::string& name, const std::string& holder,
                                      Duration ttl, Deadline deadline) override;
  absl::StatusOr<LeaseAnswer> Renew(const Fence& term, Duration ttl, Deadline deadline) override;
  absl::Status Release(const Fence& term, Deadline deadline) override;

 private:
  // The results of `steps`; waits for row locks no longer than a sixth of `ttl`.
  absl::StatusOr<std::vector<Result>> Write(std::vector<Step> steps, Duration ttl,
                                            Deadline deadline);

  const Statements& statements_;
  Pool& pool_;
};

// Inside a transaction: `fence_lock` locks the rows of the leases (ascending, so that two cannot
// wait for each other) until it ends; then, as a statement of its own so that its clock is read
// after the wait, `fence_judge`. Whoever judges first judges a moment that is past when the lock
// is granted.
Params FenceLockParams(const std::vector<Fence>& fences);
Params FenceJudgeParams(const std::vector<Fence>& fences);
// What `fence_judge` answered, one status a fence, in their order: ok or FencedError.
std::vector<absl::Status> FencesOf(const std::vector<Fence>& fences, const Result& judged);

}  // namespace engine::postgres
