// RowKeyValue: the seam of engine/key_value.h over Rows.

#pragma once

#include <string>

#include "engine/key_value.h"
#include "engine/memory/rows.h"

namespace engine::memory {

class RowKeyValue final : public KeyValue {
 public:
  // `rows` must outlive the object.
  explicit RowKeyValue(Rows& rows) : rows_(rows) {}

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
  Rows& rows_;
};

}  // namespace engine::memory
