// RowLeases: the seam of engine/lease.h over Rows, and what judges fences in process.
//
// Whoever reads or changes a lease's row holds its lock meanwhile. A transaction locks the rows of
// its fences from before it judges them until it has committed, so that a takeover waits for it.

#pragma once

#include <list>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "engine/base/mutex.h"
#include "engine/lease.h"
#include "engine/memory/rows.h"

namespace engine::memory {

class RowLeases final : public Leases {
 public:
  // Rows that are locked; unlocked on destruction.
  class Locked {
   public:
    Locked(RowLeases* leases, std::set<std::string> names)
        : leases_(leases), names_(std::move(names)) {}
    Locked(Locked&& other) noexcept
        : leases_(std::exchange(other.leases_, nullptr)), names_(std::move(other.names_)) {}
    Locked& operator=(Locked&&) = delete;
    ~Locked();

   private:
    RowLeases* leases_;
    std::set<std::string> names_;
  };

  // The epoch in its tokens: a store in one process has one life.
  static constexpr std::uint64_t kEpoch = 1;

  // `rows` must outlive the object.
  explicit RowLeases(Rows& rows) : rows_(rows) {}

  absl::StatusOr<LeaseAnswer> Acquire(const std::string& name, const std::string& holder,
                                      Duration ttl, Deadline deadline) override;
  absl::StatusOr<LeaseAnswer> Renew(const Fence& term, Duration ttl, Deadline deadline) override;
  absl::Status Release(const Fence& term, Deadline deadline) override;

  // Locks the rows of these leases together, those that nobody ever had too. Waits for its turn:
  // first come, first served for each row. Fails with kDeadlineExceeded.
  absl::StatusOr<Locked> Lock(std::set<std::string> names, Deadline deadline);
  // The same for the leases of fences.
  absl::StatusOr<Locked> LockFor(const std::vector<Fence>& fences, Deadline deadline);

  // Whether the fence holds now: ok or FencedError. REQUIRES: its row is locked by the caller.
  absl::Status Judge(const Fence& fence) const;

 private:
  bool MayLock(const std::list<const std::set<std::string>*>::const_iterator& waiter) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Unlock(const std::set<std::string>& names);

  Rows& rows_;
  Mutex mutex_;
  CondVar unlocked_;
  std::set<std::string> locked_ ABSL_GUARDED_BY(mutex_);
  // What others wait for, in the order in which they came.
  std::list<const std::set<std::string>*> waiting_ ABSL_GUARDED_BY(mutex_);
};

// The terms of one transaction: their rows are locked from before they are judged until it ends.
//
// One thread. Judge may block, at most until its deadline.
class LockedTerms {
 public:
  // One status a fence, in their order. Called at most once.
  absl::StatusOr<std::vector<absl::Status>> Judge(RowLeases& leases,
                                                  const std::vector<Fence>& fences,
                                                  Deadline deadline);
  // Unlocks them; so does destruction.
  void Leave() { locked_.reset(); }

 private:
  std::optional<RowLeases::Locked> locked_;
};

}  // namespace engine::memory
