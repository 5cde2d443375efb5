#include "engine/base/reason.h"

#include <string>
#include <utility>

namespace engine {
namespace {

constexpr char kPayload[] = "halo/reason";

struct Entry {
  Reason reason;
  std::string_view word;  // In logs.
  std::string_view sentence;
};

constexpr Entry kEntries[] = {
    {Reason::kDiskFull, "disk-full", "the store's disk is full"},
    {Reason::kLockBusy, "lock-busy", "somebody else holds a lock in the store for too long"},
    {Reason::kForbidden, "forbidden", "the store denies this server a right that it needs"},
    {Reason::kReadOnly, "read-only", "the store takes no writes: it is a standby or read-only"},
    {Reason::kStandbyAway, "standby-away",
     "the store waits for a synchronous standby that does not answer"},
    {Reason::kNotSynchronous, "not-synchronous",
     "the store's commits wait for no synchronous standby, and this server demands that they do"},
    {Reason::kRebuilding, "rebuilding",
     "the store has another history than before, which is being read"},
};

}  // namespace

absl::Status WithReason(Reason reason, absl::Status status) {
  for (const Entry& entry : kEntries) {
    if (entry.reason == reason) {
      status.SetPayload(kPayload, absl::Cord({entry.word.data(), entry.word.size()}));
    }
  }
  return status;
}

Reason ReasonOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kPayload);
  if (!payload.has_value()) {
    return Reason::kNone;
  }
  const std::string word(*payload);
  for (const Entry& entry : kEntries) {
    if (entry.word == word) {
      return entry.reason;
    }
  }
  return Reason::kNone;
}

std::string_view Sentence(Reason reason) {
  for (const Entry& entry : kEntries) {
    if (entry.reason == reason) {
      return entry.sentence;
    }
  }
  return "";
}

absl::Status WithReasonOf(const absl::Status& from, absl::Status status) {
  return WithReason(ReasonOf(from), std::move(status));
}

}  // namespace engine
