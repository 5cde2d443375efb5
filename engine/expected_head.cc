#include "engine/expected_head.h"

#include <algorithm>
#include <string>
#include <vector>

#include <absl/strings/str_format.h>

#include "engine/audit_chain.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"

namespace engine {
namespace {

constexpr std::uint64_t kEntriesAtOnce = 512;

// Whether one of the entries from `first` to `last` has the hash. A page may be shorter than asked.
absl::StatusOr<bool> IsAmong(Journal& journal, StreamId audit, std::uint64_t first,
                             std::uint64_t last, std::string_view hash, Deadline deadline) {
  while (first <= last) {
    ASSIGN_OR_RETURN(
        const std::vector<Record> rows,
        journal.ReadStream(audit, Position{first}, static_cast<int>(last - first + 1), deadline));
    if (rows.empty()) {
      return false;
    }
    for (const Record& row : rows) {
      if (AuditHash(row.payload.view()) == hash) {
        return true;
      }
    }
    first = Raw(rows.back().position) + 1;
  }
  return false;
}

}  // namespace

absl::Status FindAuditEntry(Journal& journal, StreamId audit, std::string_view hash,
                            Deadline deadline) {
  ASSIGN_OR_RETURN(const std::vector<StreamTail> tails, journal.Tails(deadline));
  const auto tail = std::ranges::find(tails, audit, &StreamTail::stream);
  std::uint64_t last = tail == tails.end() ? 0 : Raw(tail->position);
  const std::uint64_t total = last;
  while (last > 0) {
    const std::uint64_t first = last > kEntriesAtOnce ? last - kEntriesAtOnce + 1 : 1;
    ASSIGN_OR_RETURN(const bool found, IsAmong(journal, audit, first, last, hash, deadline));
    if (found) {
      return absl::OkStatus();
    }
    last = first - 1;
  }
  if (GUARD("audit.expected-head", false)) {
    return absl::OkStatus();  // Never, but without the guard.
  }
  return absl::FailedPreconditionError(absl::StrFormat(
      "none of the %d audit entries has the hash %s that was expected: this is another history, or "
      "it went back",
      total, hash));
}

}  // namespace engine
