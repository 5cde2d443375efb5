#include "engine/memory/key_value.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/base/bytes.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"

namespace engine::memory {
namespace {

RowKey KeyOf(const std::string& key) {
  return {Table::kKeyValue, key};
}

std::int64_t Micros(Duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

std::optional<Timestamp> ExpiryOf(TimeToLive ttl, Timestamp now) {
  return ttl.has_value() ? std::optional(Timestamp{now.micros + Micros(*ttl)}) : std::nullopt;
}

bool Exists(const Row* row, Timestamp now) {
  return row != nullptr && GUARD("memory.key-value-expiry", row->IsLive(now));
}

Entry EntryOf(const Row& row) {
  return {row.value, static_cast<std::int64_t>(row.number)};
}

// The later one; none at all is the latest.
std::optional<Timestamp> Later(std::optional<Timestamp> a, std::optional<Timestamp> b) {
  return a.has_value() && b.has_value() ? std::optional(std::max(*a, *b)) : std::nullopt;
}

// The value of a counter: the times of the events that count, 8 bytes each, oldest first. Those
// that have left the window are dropped; a time that lies ahead (the clock was set back) becomes
// the present, so that it leaves in time.
std::string EventsWithin(const std::string& events, Duration window, Timestamp now) {
  std::string within;
  for (std::size_t at = 0; at + 8 <= events.size(); at += 8) {
    const auto micros = static_cast<std::int64_t>(ReadU64(std::string_view(events).substr(at)));
    if (micros > now.micros - Micros(window)) {
      AppendU64(static_cast<std::uint64_t>(std::min(micros, now.micros)), within);
    }
  }
  return within;
}

}  // namespace

absl::Status RowKeyValue::Put(const std::string& key, const std::string& value, TimeToLive ttl,
                              Deadline deadline) {
  RETURN_IF_ERROR(CheckRow(key, value, ttl));
  return rows_.Change(
      KeyOf(key),
      [&](const Row*, Timestamp now) {
        return Verdict::Put({.value = value, .number = 0, .expires_at = ExpiryOf(ttl, now)});
      },
      deadline);
}

absl::StatusOr<bool> RowKeyValue::Add(const std::string& key, const std::string& value,
                                      TimeToLive ttl, Deadline deadline) {
  RETURN_IF_ERROR(CheckRow(key, value, ttl));
  bool added = false;
  const auto decide = [&](const Row* row, Timestamp now) {
    added = !Exists(row, now);
    return added ? Verdict::Put({.value = value, .number = 0, .expires_at = ExpiryOf(ttl, now)})
                 : Verdict::Keep();
  };
  RETURN_IF_ERROR(rows_.Change(KeyOf(key), decide, deadline));
  return added;
}

absl::StatusOr<std::optional<Entry>> RowKeyValue::Get(const std::string& key, Deadline) {
  RETURN_IF_ERROR(CheckKey(key));
  const std::optional<Row> row = rows_.Read(KeyOf(key));
  return row.has_value() && Exists(&*row, rows_.Now()) ? std::optional(EntryOf(*row))
                                                       : std::nullopt;
}

absl::StatusOr<std::optional<Entry>> RowKeyValue::Take(const std::string& key, Deadline deadline) {
  RETURN_IF_ERROR(CheckKey(key));
  std::optional<Entry> taken;
  const auto decide = [&](const Row* row, Timestamp now) {
    if (!Exists(row, now)) {
      return Verdict::Keep();
    }
    taken = EntryOf(*row);
    return Verdict::Remove();
  };
  RETURN_IF_ERROR(rows_.Change(KeyOf(key), decide, deadline));
  return taken;
}

absl::Status RowKeyValue::Delete(const std::string& key, Deadline deadline) {
  RETURN_IF_ERROR(CheckKey(key));
  return rows_.Change(
      KeyOf(key),
      [](const Row* row, Timestamp) {
        return row == nullptr ? Verdict::Keep() : Verdict::Remove();
      },
      deadline);
}

absl::StatusOr<bool> RowKeyValue::Unlock(const std::string& key, const std::string& owner,
                                         Deadline deadline) {
  RETURN_IF_ERROR(CheckKey(key));
  bool held = false;
  const auto decide = [&](const Row* row, Timestamp now) {
    if (row == nullptr || !GUARD("memory.unlock-owner", row->value == owner)) {
      return Verdict::Keep();
    }
    held = Exists(row, now);
    return Verdict::Remove();
  };
  RETURN_IF_ERROR(rows_.Change(KeyOf(key), decide, deadline));
  return held;
}

absl::StatusOr<std::int64_t> RowKeyValue::Raise(const std::string& key, std::int64_t number,
                                                TimeToLive ttl, Deadline deadline) {
  RETURN_IF_ERROR(CheckRow(key, "", ttl));
  std::int64_t in_force = number;
  const auto decide = [&](const Row* row, Timestamp now) {
    std::optional<Timestamp> expires_at = ExpiryOf(ttl, now);
    if (Exists(row, now)) {
      const auto before = static_cast<std::int64_t>(row->number);
      in_force = GUARD("memory.raise", before < number) ? number : before;
      expires_at = Later(expires_at, row->expires_at);
    }
    return Verdict::Put(
        {.value = "", .number = static_cast<std::uint64_t>(in_force), .expires_at = expires_at});
  };
  RETURN_IF_ERROR(rows_.Change(KeyOf(key), decide, deadline));
  return in_force;
}

absl::StatusOr<int> RowKeyValue::Count(const std::string& key, Duration window, int limit,
                                       Deadline deadline) {
  RETURN_IF_ERROR(CheckCount(key, window, limit));
  int count = 0;
  const auto decide = [&](const Row* row, Timestamp now) {
    std::string events = Exists(row, now) ? EventsWithin(row->value, window, now) : "";
    count = static_cast<int>(events.size() / 8) + 1;
    if (!GUARD("memory.count-limit", count <= limit)) {
      return Verdict::Keep();
    }
    AppendU64(static_cast<std::uint64_t>(now.micros), events);
    return Verdict::Put(
        {.value = std::move(events), .number = 0, .expires_at = ExpiryOf(window, now)});
  };
  RETURN_IF_ERROR(rows_.Change(KeyOf(key), decide, deadline));
  return std::min(count, limit + 1);
}

absl::StatusOr<int> RowKeyValue::Sweep(int limit, Deadline deadline) {
  return rows_.Sweep(limit, deadline);
}

}  // namespace engine::memory
