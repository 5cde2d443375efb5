// Leases is the seam for who may act: at most one holder a name at any time, judged on the store's
// clock alone.
//
// A lease is a row: holder, token, expiry. The row stays for ever, so that its token never falls:
// every new term gets a greater one, whoever takes it and whatever became of the one before. What
// a term does is proved by its Fence (engine/fence.h); engine/elector.h runs terms.
//
// Implementations: engine/memory (also on files), engine/postgres; tests/conformance holds for
// all. What leases promise and what not: docs/coordination.md.

#pragma once

#include <cstdint>
#include <string>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/base/clock.h"
#include "engine/base/deadline.h"
#include "engine/fence.h"

namespace engine {

// What the store said about a lease.
struct LeaseAnswer {
  // The caller has it: its token is `token`, its term ends at `expires_at` unless it is renewed.
  bool held = false;
  // Not held: of whoever has it or had it last; 0 when nobody ever had it.
  std::uint64_t token = 0;
  Timestamp expires_at;
  Timestamp now;  // The store's clock when it judged.
};

// Thread-safe. Calls block on the store, at most until their deadline.
//
// A name has 1 to 128 characters of [a-z0-9./-], a holder 1 to 64 bytes, a time to live is 1 ms to
// 1 day: kInvalidArgument otherwise. All parties of one lease use the same time to live. Other
// failures are kUnavailable and kDeadlineExceeded, and then it is not known whether the call took
// effect: a holder goes on as if it had not, and asks again.
class Leases {
 public:
  virtual ~Leases() = default;

  // Takes the lease when nobody has it: never taken, released or expired. A new term has a token
  // greater than any before, also when the holder is the same. If `holder` has it already the term
  // is extended and keeps its token, so that asking again after a lost answer is safe.
  //
  // Waits for writes that are made under a fence of the present term to end. An expiry that lies
  // further ahead than `ttl` was written by a clock that has been set back since, and counts as
  // passed.
  virtual absl::StatusOr<LeaseAnswer> Acquire(const std::string& name, const std::string& holder,
                                              Duration ttl, Deadline deadline) = 0;

  // Extends the very term of `term`, from now. Not held: it expired, was released or taken over,
  // or the row is gone; nothing was changed and no later renewal can succeed.
  virtual absl::StatusOr<LeaseAnswer> Renew(const Fence& term, Duration ttl, Deadline deadline) = 0;

  // Ends the term now, so that the next Acquire succeeds at once. The row and its token stay. Does
  // nothing when the term has ended already.
  virtual absl::Status Release(const Fence& term, Deadline deadline) = 0;
};

// What every backend checks first: kInvalidArgument as said above.
absl::Status CheckLease(const std::string& name, const std::string& holder);
absl::Status CheckTimeToLive(Duration ttl);

// Tokens: the epoch of the store (one a life of its server) in the high 32 bits, below it the time
// of the acquisition in seconds since kTokenTimeOrigin, or one more than the token before where
// that is greater. So they rise along one history whatever the clock does, and across histories
// (rows that were lost in a failover, a restored backup) as far as the clocks of the servers agree.
inline constexpr int kTokenEpochBits = 32;
inline constexpr std::int64_t kTokenTimeOrigin = 1'704'067'200'000'000;  // 2024-01-01, micros.
std::uint64_t NextToken(std::uint64_t last, std::uint64_t epoch, Timestamp now);

}  // namespace engine
