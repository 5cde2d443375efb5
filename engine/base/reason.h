// Reason: what ails a store, where it is worth telling apart: to a client, who learns no more than
// that, and in `/readyz`. It rides on a status beside the code, which says what to do about it.
//
// Thread-safe; never blocks.

#pragma once

#include <string_view>

#include <absl/status/status.h>

namespace engine {

enum class Reason {
  kNone,         // Not known, or none of these.
  kDiskFull,     // There is no room left for what was to be written.
  kLockBusy,     // Somebody else held a lock for longer than we wait.
  kForbidden,    // Our role lacks a right.
  kReadOnly,     // A standby, or a server that was told to take no writes.
  kStandbyAway,  // A commit waits for a synchronous standby, and everybody waits for it.
  // Commits wait for no standby, though that is demanded.
  kNotSynchronous,
  kRebuilding,  // The history is another one than before and is being read again.
};

// `status` with the reason on it. REQUIRES: it is not ok.
absl::Status WithReason(Reason reason, absl::Status status);

// What was put on it; kNone otherwise.
Reason ReasonOf(const absl::Status& status);

// What may be told to anybody: no names, no words of the store. Empty for kNone.
std::string_view Sentence(Reason reason);

// As RETURN_IF_ERROR keeps a reason, so does this for a status that is worded anew.
absl::Status WithReasonOf(const absl::Status& from, absl::Status status);

}  // namespace engine
