// AuditPage: one answer of `GET /api/v1/audit`.
//
// The newest entries are in memory, verified when they were folded. Older ones are read from the
// journal and checked again on the way: each must be an entry, carry its own position, and be the
// one that its successor names.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <absl/status/statusor.h>

#include "api/http/request.h"
#include "engine/base/clock.h"
#include "engine/base/deadline.h"
#include "engine/base/payload.h"
#include "engine/journal.h"
#include "engine/view.h"

namespace api {

struct AuditQuery {
  std::size_t limit = 100;
  // Entries after this one, or after this time. Neither: the newest.
  std::optional<std::variant<std::uint64_t, engine::Timestamp>> since;
  std::optional<std::string> actor;
  std::optional<std::string> action;
};

// Fails with kInvalidArgument and a text for the client.
absl::StatusOr<AuditQuery> ParseAuditQuery(const Request& request);

struct AuditPage {
  std::vector<engine::Payload> entries;  // Canonical bytes, ascending.
  std::uint64_t next = 0;
  std::uint64_t total = 0;
  std::string head;
  // Empty: the whole chain is verified. Else what is wrong with the first bad entry, by its seq.
  std::string verify_error;
};

// `audit` is the stream's part of a view. Blocks while it reads from the journal. Fails as
// Journal::ReadStream does, but for damage: that is `verify_error`.
absl::StatusOr<AuditPage> ReadAuditPage(const AuditQuery& query, const engine::StreamView& audit,
                                        engine::Journal& journal, engine::Deadline deadline);

}  // namespace api
