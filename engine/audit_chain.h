// The audit is a stream whose records form a hash chain.
//
// A record's payload is the exact canonical JSON that was hashed (`"hash":""`), so the chain can
// be verified from the bytes alone: an entry's hash is SHA-256 of its payload, and the next
// entry's `prev` is that hash. The stream's position is the entry's `seq`. Byte-exact rules:
// docs/formats/audit.md.

#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include <absl/status/status.h>
#include <absl/status/statusor.h>

#include "engine/journal.h"

namespace engine {

// What a command says about itself; the rest of the entry is filled in under the lock.
struct AuditDraft {
  std::string actor{};
  std::string action{};  // `resource.create`, `experiment.kill`, ...
  std::string target{};  // This and the following are omitted from the entry when empty.
  std::string ip{};
  std::string request_id{};
  std::map<std::string, std::string> details{};
};

struct AuditEntry {
  Position seq = Position::kBeforeFirst;
  Timestamp time;
  AuditDraft what;
  std::string prev;  // Hash of the entry before, lower-case hexadecimal; empty for the first.
};

// The canonical bytes. Invalid UTF-8 in any field is replaced by U+FFFD, byte by byte; of keys of
// `details` that become equal by that, the first in the order of bytes stays.
std::string EncodeAuditEntry(const AuditEntry& entry);

// The inverse. Fails with kDataLoss when `payload` is not exactly what EncodeAuditEntry gives for
// some entry whose `prev` is a hash (none for seq 1). Imported chains may spell \b and \f as
// \u0008 and \u000c and have times of up to nine digits, of which `time` keeps six: a hash is
// taken over the payload, never over an entry that was encoded again.
absl::StatusOr<AuditEntry> DecodeAuditEntry(std::string_view payload);

// Lower-case hexadecimal SHA-256 of the payload.
std::string AuditHash(std::string_view payload);

// Builds the payload of the next entry. `previous_payload` is the last record of the audit
// stream, empty before the first. `covers` are the rows that commit with the entry; they become
// the details of engine/audit_cover.h. Nothing covered: neither detail.
std::string SealAuditEntry(const AuditDraft& draft, Position seq, Timestamp at,
                           std::string_view previous_payload, std::span<const Record> covers,
                           const Catalogue& catalogue);

}  // namespace engine
