#include "engine/postgres/leases.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "engine/postgres/write.h"

namespace engine::postgres {
namespace {

constexpr Duration kReleaseLockTimeout = std::chrono::seconds(2);
constexpr std::uint32_t kTextOid = 25;

enum LeaseColumn { kLeaseToken, kLeaseExpiry, kLeaseNow };
enum JudgeColumn { kJudgeOrdinal, kJudgeKnown, kJudgeTerm, kJudgeLive };

std::int64_t Micros(Duration duration) {
  return std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
}

// `held`: of the statement that took or extended it. `row`: of `lease_read`.
LeaseAnswer AnswerOf(const Result& held, const Result& row) {
  LeaseAnswer answer{.held = held.rows() == 1, .token = 0, .expires_at = {}, .now = {}};
  answer.now = row.Time(0, kLeaseNow);
  if (!row.IsNull(0, kLeaseToken)) {
    answer.token = static_cast<std::uint64_t>(row.Int64(0, kLeaseToken));
    answer.expires_at = row.Time(0, kLeaseExpiry);
  }
  return answer;
}

Params TermParams(const Fence& term) {
  Params params;
  params.Text(term.lease).Text(term.holder).Int64(static_cast<std::int64_t>(term.token));
  return params;
}

Params NameParams(const std::string& name) {
  Params params;
  params.Text(name);
  return params;
}

}  // namespace

absl::StatusOr<std::vector<Result>> PostgresLeases::Write(std::vector<Step> steps, Duration ttl,
                                                          Deadline deadline) {
  ASSIGN_OR_RETURN(const Pool::Lease lease, pool_.Acquire(Lane::kLease, deadline));
  return WriteOn(*lease, statements_, std::move(steps), ttl / 6, deadline);
}

absl::StatusOr<LeaseAnswer> PostgresLeases::Acquire(const std::string& name,
                                                    const std::string& holder, Duration ttl,
                                                    Deadline deadline) {
  RETURN_IF_ERROR(CheckLease(name, holder));
  RETURN_IF_ERROR(CheckTimeToLive(ttl));
  Params acquire;
  acquire.Text(name).Text(holder).Int64(Micros(ttl));
  std::vector<Step> steps;
  steps.push_back({statements_.note_epoch, {}});
  steps.push_back({statements_.lease_acquire, std::move(acquire)});
  steps.push_back({statements_.lease_read, NameParams(name)});
  ASSIGN_OR_RETURN(const std::vector<Result> results, Write(std::move(steps), ttl, deadline));
  return AnswerOf(results[1], results[2]);
}

absl::StatusOr<LeaseAnswer> PostgresLeases::Renew(const Fence& term, Duration ttl,
                                                  Deadline deadline) {
  RETURN_IF_ERROR(CheckLease(term.lease, term.holder));
  RETURN_IF_ERROR(CheckTimeToLive(ttl));
  Params renew = TermParams(term);
  renew.Int64(Micros(ttl));
  std::vector<Step> steps;
  if (GUARD("postgres.renew-lock", false)) {
    steps.push_back({statements_.lease_read, NameParams(term.lease)});
  } else {
    steps.push_back({statements_.fence_lock, FenceLockParams({term})});
  }
  steps.push_back({statements_.lease_renew, std::move(renew)});
  steps.push_back({statements_.lease_read, NameParams(term.lease)});
  ASSIGN_OR_RETURN(const std::vector<Result> results, Write(std::move(steps), ttl, deadline));
  return AnswerOf(results[1], results[2]);
}

absl::Status PostgresLeases::Release(const Fence& term, Deadline deadline) {
  RETURN_IF_ERROR(CheckLease(term.lease, term.holder));
  std::vector<Step> steps;
  steps.push_back({statements_.fence_lock, FenceLockParams({term})});
  steps.push_back({statements_.lease_release, TermParams(term)});
  return Write(std::move(steps), kReleaseLockTimeout * 6, deadline).status();
}

Params FenceLockParams(const std::vector<Fence>& fences) {
  ArrayParam names(kTextOid, fences.size());
  for (const Fence& fence : fences) {
    names.AddBytes(fence.lease);
  }
  Params params;
  params.Array(std::move(names));
  return params;
}

Params FenceJudgeParams(const std::vector<Fence>& fences) {
  ArrayParam names(kTextOid, fences.size());
  ArrayParam holders(kByteaOid, fences.size());
  ArrayParam tokens(kInt8Oid, fences.size());
  for (const Fence& fence : fences) {
    names.AddBytes(fence.lease);
    holders.AddBytes(fence.holder);
    tokens.AddInt64(static_cast<std::int64_t>(fence.token));
  }
  Params params;
  params.Array(std::move(names)).Array(std::move(holders)).Array(std::move(tokens));
  return params;
}

std::vector<absl::Status> FencesOf(const std::vector<Fence>& fences, const Result& judged) {
  std::vector<absl::Status> statuses;
  statuses.reserve(fences.size());
  for (const Fence& fence : fences) {
    statuses.push_back(FencedError(fence, "there is no such lease"));
  }
  for (int row = 0; row < judged.rows(); ++row) {
    const auto at = static_cast<std::size_t>(judged.Int64(row, kJudgeOrdinal) - 1);
    if (!judged.Bool(row, kJudgeKnown)) {
      continue;
    }
    if (!GUARD("postgres.fence-term", judged.Bool(row, kJudgeTerm))) {
      statuses[at] = FencedError(fences[at], "another term has begun");
    } else if (!GUARD("postgres.fence-live", judged.Bool(row, kJudgeLive))) {
      statuses[at] = FencedError(fences[at], "the term has expired");
    } else {
      statuses[at] = absl::OkStatus();
    }
  }
  return statuses;
}

}  // namespace engine::postgres
