#include "engine/memory/rows.h"

namespace engine::memory {

const Row* RowTable::Find(const RowKey& key) const {
  const auto found = rows_.find(key);
  return found == rows_.end() ? nullptr : &found->second;
}

void RowTable::Put(const RowKey& key, Row row) {
  Remove(key);
  if (key.table == Table::kKeyValue && row.expires_at.has_value()) {
    expiries_.emplace(*row.expires_at, key);
  }
  rows_.emplace(key, std::move(row));
}

void RowTable::Remove(const RowKey& key) {
  const auto found = rows_.find(key);
  if (found == rows_.end()) {
    return;
  }
  if (found->second.expires_at.has_value()) {
    expiries_.erase({*found->second.expires_at, key});
  }
  rows_.erase(found);
}

std::vector<RowKey> RowTable::Expired(Timestamp now, std::size_t limit) const {
  std::vector<RowKey> keys;
  for (const auto& [expires_at, key] : expiries_) {
    if (now < expires_at || keys.size() == limit) {
      break;
    }
    keys.push_back(key);
  }
  return keys;
}

absl::Status MemoryRows::Change(const RowKey& key, const Decide& decide, Deadline) {
  MutexLock lock(mutex_);
  Verdict verdict = decide(rows_.Find(key), clock_.Now());
  if (verdict.changes && verdict.row.has_value()) {
    rows_.Put(key, *std::move(verdict.row));
  } else if (verdict.changes) {
    rows_.Remove(key);
  }
  return absl::OkStatus();
}

std::optional<Row> MemoryRows::Read(const RowKey& key) const {
  MutexLock lock(mutex_);
  const Row* row = rows_.Find(key);
  return row == nullptr ? std::nullopt : std::optional(*row);
}

absl::StatusOr<int> MemoryRows::Sweep(int limit, Deadline) {
  MutexLock lock(mutex_);
  const std::vector<RowKey> keys = rows_.Expired(clock_.Now(), static_cast<std::size_t>(limit));
  for (const RowKey& key : keys) {
    rows_.Remove(key);
  }
  return static_cast<int>(keys.size());
}

}  // namespace engine::memory
