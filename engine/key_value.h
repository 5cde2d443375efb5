// KeyValue is the seam for short-lived facts: login states, single-use tokens, sessions, locks
// around outside effects, counters of failures. They are not part of the journal's history and
// take no part in its transactions.
//
// Every operation is atomic on its one key. A row that has expired on the store's clock does not
// exist for any of them, whether or not it was swept.
//
// Implementations: engine/memory (also on files), engine/postgres; tests/conformance holds for
// all. What the seam promises and what not: docs/coordination.md.

#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/base/clock.h"
#include "engine/base/deadline.h"

namespace engine {

// Limits that every backend enforces with kInvalidArgument before anything is written. Keys and
// values are bytes: any bytes, compared as bytes. A key has at least one.
inline constexpr std::size_t kMaxKeyValueKeyBytes = 512;
inline constexpr std::size_t kMaxKeyValueValueBytes = std::size_t{1} << 20;
// 1 ms to this.
inline constexpr Duration kMaxKeyValueTimeToLive = std::chrono::hours(24 * 365 * 10);
// Of Count: events in a window.
inline constexpr int kMaxCountLimit = 512;

// How long a row lives, from the moment the store writes it; empty: until it is removed.
using TimeToLive = std::optional<Duration>;

struct Entry {
  std::string value;        // What was put or added; empty for a raised number.
  std::int64_t number = 0;  // Of a raised number.
  friend bool operator==(const Entry&, const Entry&) = default;
};

// Thread-safe. Calls block on the store, at most until their deadline.
//
// Beside kInvalidArgument calls fail with kUnavailable, kDeadlineExceeded and, when the store's
// disk is full, kResourceExhausted. Unless the store could not be reached at all, it is not known
// then whether the call took effect: a token may have been taken, a lock may be held until it
// expires (Unlock it).
class KeyValue {
 public:
  virtual ~KeyValue() = default;

  // Makes or replaces the row.
  virtual absl::Status Put(const std::string& key, const std::string& value, TimeToLive ttl,
                           Deadline deadline) = 0;

  // Makes the row unless there is one; whether it did. Of several at once exactly one does.
  virtual absl::StatusOr<bool> Add(const std::string& key, const std::string& value, TimeToLive ttl,
                                   Deadline deadline) = 0;

  // Empty: there is no such row.
  virtual absl::StatusOr<std::optional<Entry>> Get(const std::string& key, Deadline deadline) = 0;

  // Removes the row and returns it. Of several at once exactly one gets it.
  virtual absl::StatusOr<std::optional<Entry>> Take(const std::string& key, Deadline deadline) = 0;

  virtual absl::Status Delete(const std::string& key, Deadline deadline) = 0;

  // Takes a lock: an Add whose value is the owner, a random value drawn for this one locking.
  // Somebody who works longer than `ttl` has lost it: what must not happen twice is proved by a
  // lease's token instead.
  absl::StatusOr<bool> TryLock(const std::string& key, const std::string& owner, Duration ttl,
                               Deadline deadline) {
    return Add(key, owner, ttl, deadline);
  }

  // Removes the row if its value is `owner`. Returns whether the owner had the lock until now:
  // false when it had expired or has another owner (whose row stays).
  virtual absl::StatusOr<bool> Unlock(const std::string& key, const std::string& owner,
                                      Deadline deadline) = 0;

  // Raises the row's number to `number` unless it is as great already, and makes the row where
  // there is none. Neither number nor expiry ever falls. Returns the number in force. The row's
  // value is emptied.
  virtual absl::StatusOr<std::int64_t> Raise(const std::string& key, std::int64_t number,
                                             TimeToLive ttl, Deadline deadline) = 0;

  // Counts an event, unless `limit` of them were counted within the last `window` already, at any
  // place of it: the window slides. Returns how many there are with this one, so `limit + 1` for
  // one too many, which is not counted and writes nothing: a flood costs reads.
  //
  // `limit` is 1 to kMaxCountLimit, `window` at most a day. All callers use the same for a key.
  virtual absl::StatusOr<int> Count(const std::string& key, Duration window, int limit,
                                    Deadline deadline) = 0;

  // Removes up to `limit` rows that have expired and returns how many: fewer than `limit` means
  // that none are left. Only frees room; call it now and then, in a loop. REQUIRES: limit > 0.
  virtual absl::StatusOr<int> Sweep(int limit, Deadline deadline) = 0;
};

// What every backend checks first: kInvalidArgument as said above.
absl::Status CheckKey(const std::string& key);
absl::Status CheckRow(const std::string& key, const std::string& value, TimeToLive ttl);
absl::Status CheckCount(const std::string& key, Duration window, int limit);

}  // namespace engine
