// PostgresKeyValue: the seam of engine/key_value.h in SQL.

#pragma once

#include <string>
#include <vector>

#include "engine/key_value.h"
#include "engine/postgres/pool.h"
#include "engine/postgres/statements.h"

namespace engine::postgres {

// Thread-safe; its calls block. Each is one round trip.
class PostgresKeyValue final : public KeyValue {
 public:
  // `statements` and `pool` must outlive it.
  PostgresKeyValue(const Statements& statements, Pool& pool, Duration request_timeout)
      : statements_(statements), pool_(pool), request_timeout_(request_timeout) {}

  absl::Status Put(const std::string& key, const std::string& value, TimeToLive ttl,
                   Deadline deadline) override;
  absl::StatusOr<bool> Add(const std::string& key, const std::string& value, TimeToLive ttl,
                           Deadline deadline) override;
  absl::StatusOr<std::optional<Entry>> Get(const std::string& key, Deadline deadline) override;
  absl::StatusOr<std::optional<Entry>> Take(const std::string& key, Deadline deadline) override;
  absl::Status Delete(const std::string& key, Deadline deadline) override;
  absl::StatusOr<bool> Unlock(const std::string& key, const std::string& owner,
                              Deadline deadline) override;
  absl::StatusOr<std::int64_t> Raise(const std::string& key, std::int64_t number, TimeToLive ttl,
                                     Deadline deadline) override;
  absl::StatusOr<int> Count(const std::string& key, Duration window, int limit,
                            Deadline deadline) override;
  absl::StatusOr<int> Sweep(int limit, Deadline deadline) override;

 private:
  // The answer of one statement that changes rows.
  absl::StatusOr<Result> Write(const Statement& statement, Params params, Deadline deadline);
  // The same, on a row that is locked first, so that its expiry is judged after the wait.
  absl::StatusOr<Result> WriteLocked(const Statement& statement, const std::string& key,
                                     Params params, Deadline deadline);
  absl::StatusOr<std::vector<Result>> Run(std::vector<Step> steps, Deadline deadline);

  const Statements& statements_;
  Pool& pool_;
  const Duration request_timeout_;
};

}  // namespace engine::postgres
