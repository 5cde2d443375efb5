// FindAuditEntry: whether the audit chain holds an entry that was seen before.
//
// A process that starts knows nothing, so a history that went back looks to it like any other. Who
// pinned the head of the audit somewhere else can ask for it: the chain may have grown since, but
// an entry of that hash has to be in it, and with it, hash by hash, everything before.

#pragma once

#include <string_view>

#include <absl/status/status.h>

#include "engine/base/deadline.h"
#include "engine/journal.h"

namespace engine {

// Looks for the entry whose hash is `hash` (64 digits, lower case), from the newest one back.
// Blocks. Fails with kFailedPrecondition when there is none, and as Journal::ReadStream does.
absl::Status FindAuditEntry(Journal& journal, StreamId audit, std::string_view hash,
                            Deadline deadline);

}  // namespace engine
