#include "engine/proof.h"

#include <algorithm>
#include <utility>

#include "engine/base/guard.h"
#include "engine/base/reason.h"

namespace engine {

Proof::~Proof() {
  Failed(absl::UnavailableError("shutting down"));
}

void Proof::Acknowledged(const Origin& origin, Duration sent) {
  std::vector<std::pair<Asker, absl::Status>> told;
  {
    MutexLock lock(mutex_);
    // Two ways can acknowledge; what was sent last proves most.
    if (!origin_.has_value() || sent >= sent_) {
      origin_ = origin;
      sent_ = sent;
    }
    for (Waiting& waiting : waiting_) {
      told.emplace_back(std::move(waiting.asker), CheckLocked(waiting.origin));
    }
    waiting_.clear();
  }
  for (const auto& [asker, status] : told) {
    asker(status);
  }
}

void Proof::Failed(const absl::Status& why) {
  std::vector<Waiting> denied;
  {
    MutexLock lock(mutex_);
    denied.swap(waiting_);
  }
  for (const Waiting& waiting : denied) {
    waiting.asker(WithReasonOf(
        why, absl::UnavailableError("the store acknowledged no commit: " +
                                    std::string(why.message().data(), why.message().size()))));
  }
}

absl::Status Proof::CheckLocked(const Origin& origin) const {
  if (!GUARD("proof.objection", objection_.ok())) {
    return objection_;
  }
  if (!GUARD("proof.origin", origin_ == origin)) {
    return absl::UnavailableError("another life of the store acknowledged our last commit");
  }
  if (!GUARD("proof.bound", clock_.SinceBoot() - sent_ <= bound_)) {
    return absl::UnavailableError("the store acknowledged no commit of ours recently");
  }
  return absl::OkStatus();
}

absl::Status Proof::Check(const Origin& origin) const {
  MutexLock lock(mutex_);
  return CheckLocked(origin);
}

void Proof::Ask(const Origin& origin, Asker asker) {
  absl::Status now;
  {
    MutexLock lock(mutex_);
    now = CheckLocked(origin);
    if (!now.ok() && objection_.ok()) {
      waiting_.push_back({origin, std::move(asker)});
      if (on_wanted_) {
        on_wanted_();
      }
      return;
    }
  }
  asker(now);
}

void Proof::SetOnWanted(std::function<void()> on_wanted) {
  MutexLock lock(mutex_);
  on_wanted_ = std::move(on_wanted);
}

void Proof::SetObjection(absl::Status objection) {
  MutexLock lock(mutex_);
  objection_ = std::move(objection);
}

std::optional<Duration> Proof::Age() const {
  MutexLock lock(mutex_);
  return origin_.has_value() ? std::optional(clock_.SinceBoot() - sent_) : std::nullopt;
}

}  // namespace engine
