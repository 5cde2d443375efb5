// Rows keeps the state that is no history: key-value rows and leases, of a backend that lives in
// one process. Memory keeps them in a RowTable, files in a RowTable and a log (engine/file).
//
// A row changes by a function from what it is to what it shall be, so that the rules of every
// operation are written once, whatever makes the change durable.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/base/clock.h"
#include "engine/base/deadline.h"
#include "engine/base/mutex.h"

namespace engine::memory {

// Numbers are part of the file format (docs/formats/state.md).
enum class Table : std::uint8_t { kKeyValue = 1, kLeases = 2 };

struct RowKey {
  Table table = Table::kKeyValue;
  std::string key;
  auto operator<=>(const RowKey&) const = default;
};

struct Row {
  std::string value;         // Of a lease: the holder.
  std::uint64_t number = 0;  // Of a lease: the token.
  std::optional<Timestamp> expires_at;
  friend bool operator==(const Row&, const Row&) = default;

  // Whether it exists for anyone but the sweep.
  bool IsLive(Timestamp now) const { return !expires_at.has_value() || now < *expires_at; }
};

// What becomes of a row.
struct Verdict {
  static Verdict Keep() { return {}; }
  static Verdict Put(Row row) { return {true, std::move(row)}; }
  static Verdict Remove() { return {true, std::nullopt}; }

  bool changes = false;
  std::optional<Row> row;  // Empty: it is removed.
};

// Thread-safe. Calls may block on the disk.
class Rows {
 public:
  // Sees the row, expired or not, or null; and the store's time. Called once, under a lock: quick,
  // and calls nothing of Rows.
  using Decide = std::function<Verdict(const Row* row, Timestamp now)>;

  virtual ~Rows() = default;

  // Changes one row as `decide` says. After an error what `decide` said counts for nothing.
  //
  // Fails with kUnavailable (the disk took it not; nothing was changed) and kDeadlineExceeded
  // (likewise, it was not begun).
  virtual absl::Status Change(const RowKey& key, const Decide& decide, Deadline deadline) = 0;

  // Only durable state is seen.
  virtual std::optional<Row> Read(const RowKey& key) const = 0;

  // Removes up to `limit` expired key-value rows and returns how many. Fails as Change does.
  virtual absl::StatusOr<int> Sweep(int limit, Deadline deadline) = 0;

  // The store's clock.
  virtual Timestamp Now() const = 0;
};

// Thread-compatible.
class RowTable {
 public:
  const Row* Find(const RowKey& key) const;
  void Put(const RowKey& key, Row row);
  void Remove(const RowKey& key);

  // The key-value rows that have expired, longest first, `limit` at most.
  std::vector<RowKey> Expired(Timestamp now, std::size_t limit) const;

  const std::map<RowKey, Row>& all() const { return rows_; }

 private:
  std::map<RowKey, Row> rows_;
  std::set<std::pair<Timestamp, RowKey>> expiries_;  // Of key-value rows.
};

// Rows that end with the process.
class MemoryRows final : public Rows {
 public:
  // `clock` must outlive the object.
  explicit MemoryRows(const Clock& clock) : clock_(clock) {}

  absl::Status Change(const RowKey& key, const Decide& decide, Deadline deadline) override;
  std::optional<Row> Read(const RowKey& key) const override;
  absl::StatusOr<int> Sweep(int limit, Deadline deadline) override;
  Timestamp Now() const override { return clock_.Now(); }

 private:
  const Clock& clock_;
  mutable Mutex mutex_;
  RowTable rows_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace engine::memory
