#include "engine/postgres/sqlstate.h"

#include <absl/strings/str_format.h>

#include "engine/base/reason.h"

namespace engine::postgres {
namespace {

using absl::StatusCode;

struct Entry {
  std::string_view prefix;  // Two characters for a class, five for one state.
  ErrorMeaning meaning;
};

constexpr Entry kEntries[] = {
    // Connections, poolers, authentication. A wrong password can be right again in a minute.
    {"08", {StatusCode::kUnavailable, AfterError::kDrop}},
    {"28", {StatusCode::kUnavailable, AfterError::kDrop}},
    {"3D", {StatusCode::kUnavailable, AfterError::kDrop}},  // The database is gone.
    // Statements that cannot be: the wrong plan or name on a connection that was switched under
    // us, a table that is gone or renamed (never an empty journal), a right that is missing.
    {"0A000", {StatusCode::kUnavailable, AfterError::kDrop}},  // The plan's columns changed.
    {"26000", {StatusCode::kUnavailable, AfterError::kDrop}},  // No such prepared statement.
    {"42P05", {StatusCode::kUnavailable, AfterError::kDrop}},  // Prepared by someone else.
    {"42P01", {StatusCode::kUnavailable, AfterError::kDrop}},
    {"3F000", {StatusCode::kUnavailable, AfterError::kDrop}},
    {"42703", {StatusCode::kUnavailable, AfterError::kDrop}},
    {"42501", {StatusCode::kPermissionDenied, AfterError::kKeep}},
    // Rows that may not be.
    {"22", {StatusCode::kInvalidArgument, AfterError::kKeep}},
    {"22003", {StatusCode::kDeadlineExceeded, AfterError::kKeep}},  // Our own check of the time.
    {"22012", {StatusCode::kInternal, AfterError::kKeep}},          // Our own row count check.
    {"23", {StatusCode::kInvalidArgument, AfterError::kKeep}},
    {"23505", {StatusCode::kAborted, AfterError::kKeep}},  // Another writer has the position.
    {"54", {StatusCode::kInvalidArgument, AfterError::kKeep}},
    // Transactions.
    // A session in another state than we think is of no use.
    {"25", {StatusCode::kInternal, AfterError::kDrop}},
    {"25006", {StatusCode::kUnavailable, AfterError::kDrop}},  // Read only: not the primary.
    {"25P03", {StatusCode::kUnavailable, AfterError::kDrop}},  // Idle in a transaction too long.
    {"25P04", {StatusCode::kUnavailable, AfterError::kDrop}},
    {"40", {StatusCode::kAborted, AfterError::kKeep}},
    {"40003", {StatusCode::kUnavailable, AfterError::kDrop}},       // Completion unknown.
    {"55P03", {StatusCode::kDeadlineExceeded, AfterError::kKeep}},  // lock_timeout
    {"57014", {StatusCode::kDeadlineExceeded, AfterError::kKeep}},  // statement_timeout, cancel
    // Servers that are short of something, stopping, broken or damaged.
    {"53", {StatusCode::kUnavailable, AfterError::kDrop}},
    {"53100", {StatusCode::kResourceExhausted, AfterError::kKeep}},  // Disk full.
    {"57", {StatusCode::kUnavailable, AfterError::kDrop}},
    {"72", {StatusCode::kAborted, AfterError::kKeep}},  // Snapshot too old.
    {"58", {StatusCode::kUnavailable, AfterError::kDrop}},
    {"XX", {StatusCode::kInternal, AfterError::kDrop}},
    {"XX001", {StatusCode::kDataLoss, AfterError::kDrop}},
    {"XX002", {StatusCode::kDataLoss, AfterError::kDrop}},
};

Reason ReasonFor(std::string_view sqlstate) {
  if (sqlstate == "53100") {
    return Reason::kDiskFull;
  }
  if (sqlstate == "55P03") {
    return Reason::kLockBusy;
  }
  if (sqlstate == "42501") {
    return Reason::kForbidden;
  }
  return sqlstate == "25006" ? Reason::kReadOnly : Reason::kNone;
}

}  // namespace

ErrorMeaning MeaningOf(std::string_view sqlstate) {
  if (sqlstate.empty()) {
    return {StatusCode::kUnavailable, AfterError::kDrop};
  }
  std::size_t length = 0;
  ErrorMeaning best;
  for (const Entry& entry : kEntries) {
    if (entry.prefix.size() > length && sqlstate.starts_with(entry.prefix)) {
      length = entry.prefix.size();
      best = entry.meaning;
    }
  }
  return best;
}

absl::Status ErrorFor(std::string_view sqlstate, std::string_view what, std::string_view message) {
  while (message.ends_with('\n')) {
    message.remove_suffix(1);
  }
  const std::string text = sqlstate.empty()
                               ? absl::StrFormat("%s: %s", what, message)
                               : absl::StrFormat("%s: %s (SQLSTATE %s)", what, message, sqlstate);
  return WithReason(ReasonFor(sqlstate), absl::Status(MeaningOf(sqlstate).code, text));
}

}  // namespace engine::postgres
