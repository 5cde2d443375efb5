#include "engine/memory/leases.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "engine/base/guard.h"
#include "engine/base/status_macros.h"

namespace engine::memory {
namespace {

Timestamp After(Timestamp now, Duration ttl) {
  return {now.micros + std::chrono::duration_cast<std::chrono::microseconds>(ttl).count()};
}

bool Overlap(const std::set<std::string>& a, const std::set<std::string>& b) {
  return std::ranges::any_of(a, [&](const std::string& name) { return b.contains(name); });
}

RowKey KeyOf(const std::string& name) {
  return {Table::kLeases, name};
}

bool IsTermOf(const Row& row, const Fence& term) {
  return row.value == term.holder && row.number == term.token;
}

LeaseAnswer Answer(bool held, const Row* row, Timestamp now) {
  LeaseAnswer answer{.held = held, .token = 0, .expires_at = {}, .now = now};
  if (row != nullptr) {
    answer.token = row->number;
    answer.expires_at = row->expires_at.value_or(Timestamp{});
  }
  return answer;
}

}  // namespace

RowLeases::Locked::~Locked() {
  if (leases_ != nullptr) {
    leases_->Unlock(names_);
  }
}

bool RowLeases::MayLock(
    const std::list<const std::set<std::string>*>::const_iterator& waiter) const {
  const bool first = std::none_of(waiting_.begin(), waiter,
                                  [&](const auto* earlier) { return Overlap(*earlier, **waiter); });
  return GUARD("memory.lease-lock", first && !Overlap(**waiter, locked_));
}

absl::StatusOr<RowLeases::Locked> RowLeases::Lock(std::set<std::string> names, Deadline deadline) {
  MutexLock lock(mutex_);
  const auto self = waiting_.insert(waiting_.end(), &names);
  bool in_time = true;
  while (!MayLock(self) && in_time) {
    in_time = unlocked_.WaitUntil(mutex_, deadline) || !deadline.HasPassed();
  }
  const bool granted = MayLock(self);
  waiting_.erase(self);
  if (!granted) {
    unlocked_.SignalAll();  // Others may have waited behind us.
    return absl::DeadlineExceededError("waiting for a write under the lease to end");
  }
  locked_.insert(names.begin(), names.end());
  return Locked(this, std::move(names));
}

absl::StatusOr<RowLeases::Locked> RowLeases::LockFor(const std::vector<Fence>& fences,
                                                     Deadline deadline) {
  std::set<std::string> names;
  for (const Fence& fence : fences) {
    names.insert(fence.lease);
  }
  return Lock(std::move(names), deadline);
}

void RowLeases::Unlock(const std::set<std::string>& names) {
  {
    MutexLock lock(mutex_);
    for (const std::string& name : names) {
      locked_.erase(name);
    }
  }
  unlocked_.SignalAll();
}

absl::StatusOr<LeaseAnswer> RowLeases::Acquire(const std::string& name, const std::string& holder,
                                               Duration ttl, Deadline deadline) {
  RETURN_IF_ERROR(CheckLease(name, holder));
  RETURN_IF_ERROR(CheckTimeToLive(ttl));
  ASSIGN_OR_RETURN(const Locked locked, Lock({name}, deadline));
  LeaseAnswer answer;
  const auto decide = [&](const Row* row, Timestamp now) {
    const bool live =
        row != nullptr && row->IsLive(now) &&
        GUARD("lease.clock-set-back", !(After(now, ttl) < row->expires_at.value_or(Timestamp{})));
    if (live && row->value != holder) {
      answer = Answer(false, row, now);
      return Verdict::Keep();
    }
    const std::uint64_t last = row == nullptr ? 0 : row->number;
    const Row next{.value = holder,
                   .number = live ? last : NextToken(last, kEpoch, now),
                   .expires_at = After(now, ttl)};
    answer = Answer(true, &next, now);
    return Verdict::Put(next);
  };
  RETURN_IF_ERROR(rows_.Change(KeyOf(name), decide, deadline));
  return answer;
}

absl::StatusOr<LeaseAnswer> RowLeases::Renew(const Fence& term, Duration ttl, Deadline deadline) {
  RETURN_IF_ERROR(CheckLease(term.lease, term.holder));
  RETURN_IF_ERROR(CheckTimeToLive(ttl));
  ASSIGN_OR_RETURN(const Locked locked, Lock({term.lease}, deadline));
  LeaseAnswer answer;
  const auto decide = [&](const Row* row, Timestamp now) {
    if (row == nullptr || !row->IsLive(now) || !IsTermOf(*row, term)) {
      answer = Answer(false, row, now);
      return Verdict::Keep();
    }
    Row next = *row;
    next.expires_at = After(now, ttl);
    answer = Answer(true, &next, now);
    return Verdict::Put(std::move(next));
  };
  RETURN_IF_ERROR(rows_.Change(KeyOf(term.lease), decide, deadline));
  return answer;
}

absl::Status RowLeases::Release(const Fence& term, Deadline deadline) {
  RETURN_IF_ERROR(CheckLease(term.lease, term.holder));
  ASSIGN_OR_RETURN(const Locked locked, Lock({term.lease}, deadline));
  const auto decide = [&](const Row* row, Timestamp now) {
    if (row == nullptr || !row->IsLive(now) || !IsTermOf(*row, term)) {
      return Verdict::Keep();
    }
    Row next = *row;
    next.expires_at = now;
    return Verdict::Put(std::move(next));
  };
  return rows_.Change(KeyOf(term.lease), decide, deadline);
}

absl::Status RowLeases::Judge(const Fence& fence) const {
  const std::optional<Row> row = rows_.Read(KeyOf(fence.lease));
  if (!row.has_value()) {
    return FencedError(fence, "there is no such lease");
  }
  if (!IsTermOf(*row, fence)) {
    return FencedError(fence, "another term has begun");
  }
  if (!row->IsLive(rows_.Now())) {
    return FencedError(fence, "the term has expired");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<absl::Status>> LockedTerms::Judge(RowLeases& leases,
                                                             const std::vector<Fence>& fences,
                                                             Deadline deadline) {
  std::vector<absl::Status> judged;
  if (fences.empty()) {
    return judged;
  }
  ASSIGN_OR_RETURN(RowLeases::Locked locked, leases.LockFor(fences, deadline));
  locked_.emplace(std::move(locked));
  for (const Fence& fence : fences) {
    judged.push_back(leases.Judge(fence));
  }
  return judged;
}

}  // namespace engine::memory
