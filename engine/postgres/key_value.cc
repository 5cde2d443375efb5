#include "engine/postgres/key_value.h"

#include <chrono>
#include <utility>

#include "engine/base/guard.h"
#include "engine/base/reason.h"
#include "engine/base/status_macros.h"
#include "engine/postgres/journal.h"
#include "engine/postgres/write.h"

namespace engine::postgres {
namespace {

// Rows are locked for a moment only; whoever holds one longer is in trouble.
constexpr Duration kLockTimeout = std::chrono::seconds(5);

enum GetColumn { kGetInRecovery, kGetValue, kGetNumber };

// Zero stands for no expiry.
std::int64_t Micros(TimeToLive ttl) {
  return std::chrono::duration_cast<std::chrono::microseconds>(ttl.value_or(Duration::zero()))
      .count();
}

Params KeyParams(const std::string& key) {
  Params params;
  params.Text(key);
  return params;
}

Params RowParams(const std::string& key, const std::string& value, TimeToLive ttl) {
  Params params;
  params.Text(key).Text(value).Int64(Micros(ttl));
  return params;
}

}  // namespace

absl::StatusOr<std::vector<Result>> PostgresKeyValue::Run(std::vector<Step> steps,
                                                          Deadline deadline) {
  const Deadline bounded = deadline.EarlierOf(Deadline::After(request_timeout_));
  ASSIGN_OR_RETURN(const Pool::Lease lease, pool_.Acquire(Lane::kShared, bounded));
  absl::StatusOr<std::vector<Result>> results =
      WriteOn(*lease, statements_, std::move(steps), kLockTimeout, bounded);
  if (ReasonOf(results.status()) == Reason::kLockBusy) {
    lease->CountTimeout();
  }
  return results;
}

absl::StatusOr<Result> PostgresKeyValue::Write(const Statement& statement, Params params,
                                               Deadline deadline) {
  std::vector<Step> steps;
  steps.push_back({statement, std::move(params)});
  ASSIGN_OR_RETURN(std::vector<Result> results, Run(std::move(steps), deadline));
  return std::move(results[0]);
}

absl::StatusOr<Result> PostgresKeyValue::WriteLocked(const Statement& statement,
                                                     const std::string& key, Params params,
                                                     Deadline deadline) {
  std::vector<Step> steps;
  if (GUARD("postgres.key-value-lock", false)) {
    return Write(statement, std::move(params), deadline);
  }
  steps.push_back({statements_.kv_lock, KeyParams(key)});
  steps.push_back({statement, std::move(params)});
  ASSIGN_OR_RETURN(std::vector<Result> results, Run(std::move(steps), deadline));
  return std::move(results[1]);
}

absl::Status PostgresKeyValue::Put(const std::string& key, const std::string& value, TimeToLive ttl,
                                   Deadline deadline) {
  RETURN_IF_ERROR(CheckRow(key, value, ttl));
  return Write(statements_.kv_put, RowParams(key, value, ttl), deadline).status();
}

absl::StatusOr<bool> PostgresKeyValue::Add(const std::string& key, const std::string& value,
                                           TimeToLive ttl, Deadline deadline) {
  RETURN_IF_ERROR(CheckRow(key, value, ttl));
  ASSIGN_OR_RETURN(const Result result,
                   Write(statements_.kv_add, RowParams(key, value, ttl), deadline));
  return result.rows() == 1;
}

absl::StatusOr<std::optional<Entry>> PostgresKeyValue::Get(const std::string& key,
                                                           Deadline deadline) {
  RETURN_IF_ERROR(CheckKey(key));
  const Deadline bounded = deadline.EarlierOf(Deadline::After(request_timeout_));
  ASSIGN_OR_RETURN(const Pool::Lease lease, pool_.Acquire(Lane::kShared, bounded));
  ASSIGN_OR_RETURN(const Result result,
                   AskOn(*lease, statements_, {statements_.kv_get, KeyParams(key)}, bounded));
  if (!GUARD("postgres.key-value-standby", !result.Bool(0, kGetInRecovery))) {
    lease->Close();
    return absl::UnavailableError("the database is a standby");
  }
  if (result.IsNull(0, kGetValue)) {
    return std::optional<Entry>();
  }
  return std::optional(Entry{std::string(result.Bytes(0, kGetValue)), result.Int64(0, kGetNumber)});
}

absl::StatusOr<std::optional<Entry>> PostgresKeyValue::Take(const std::string& key,
                                                            Deadline deadline) {
  RETURN_IF_ERROR(CheckKey(key));
  ASSIGN_OR_RETURN(const Result result,
                   WriteLocked(statements_.kv_take, key, KeyParams(key), deadline));
  if (result.rows() == 0) {
    return std::optional<Entry>();
  }
  return std::optional(Entry{std::string(result.Bytes(0, 0)), result.Int64(0, 1)});
}

absl::Status PostgresKeyValue::Delete(const std::string& key, Deadline deadline) {
  RETURN_IF_ERROR(CheckKey(key));
  return Write(statements_.kv_delete, KeyParams(key), deadline).status();
}

absl::StatusOr<bool> PostgresKeyValue::Unlock(const std::string& key, const std::string& owner,
                                              Deadline deadline) {
  RETURN_IF_ERROR(CheckKey(key));
  Params params;
  params.Text(key).Text(owner);
  ASSIGN_OR_RETURN(const Result result,
                   WriteLocked(statements_.kv_unlock, key, std::move(params), deadline));
  return result.rows() == 1 && result.Bool(0, 0);
}

absl::StatusOr<std::int64_t> PostgresKeyValue::Raise(const std::string& key, std::int64_t number,
                                                     TimeToLive ttl, Deadline deadline) {
  RETURN_IF_ERROR(CheckRow(key, "", ttl));
  Params params;
  params.Text(key).Int64(number).Int64(Micros(ttl));
  ASSIGN_OR_RETURN(const Result result, Write(statements_.kv_raise, std::move(params), deadline));
  return result.Int64(0, 0);
}

absl::StatusOr<int> PostgresKeyValue::Count(const std::string& key, Duration window, int limit,
                                            Deadline deadline) {
  RETURN_IF_ERROR(CheckCount(key, window, limit));
  Params params;
  params.Text(key).Int64(Micros(window)).Int32(limit);
  ASSIGN_OR_RETURN(const Result result, Write(statements_.kv_count, std::move(params), deadline));
  return result.rows() == 0 ? limit + 1 : result.Int32(0, 0);
}

absl::StatusOr<int> PostgresKeyValue::Sweep(int limit, Deadline deadline) {
  Params params;
  params.Int64(limit);
  ASSIGN_OR_RETURN(const Result result, Write(statements_.kv_sweep, std::move(params), deadline));
  return static_cast<int>(result.Int64(0, 0));
}

}  // namespace engine::postgres
