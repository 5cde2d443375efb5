// Command: one mutation on its way, as the committer sees it.
//
// A transaction reads first and then is data: `Decide` looks at committed state under the lock
// and says what is to be written; nothing conditional is left to the store.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <absl/status/status.h>

#include "engine/audit_chain.h"
#include "engine/base/deadline.h"
#include "engine/footprint.h"
#include "engine/journal.h"
#include "engine/view.h"

namespace engine {

// A record that a command wants to append; the committer fills in the rest.
struct RecordDraft {
  StreamId stream = StreamId::kInvalid;
  std::string key;
  Position previous = Position::kBeforeFirst;  // The key's newest record in the view.
  std::uint16_t flags = 0;
  std::string payload;
};

// What a command wants done. Empty: nothing to write (a refusal, or a no-op).
struct Proposal {
  std::vector<RecordDraft> records;
  std::optional<AuditDraft> audit;
};

struct DecideContext {
  const View& view;      // Committed state, under the lock.
  Timestamp now;         // Will be `at` of the records.
  Footprint& footprint;  // Tell it what is read and what will be changed.
};

struct CommandOutcome {
  enum class Kind {
    kCommitted,  // Durable. `records` are the command's own rows, the audit entry last.
    kNothing,    // Decide proposed nothing; its answer rests on committed state.
    kFailed,     // Nothing was written: why has the reason.
    kUnknown,    // It may have been written; it could not be settled within the deadline.
  };
  Kind kind = Kind::kFailed;
  absl::Status why;
  Tx tx = Tx::kBeforeFirst;
  std::span<const Record> records;  // Valid during Finish only.
};

// One mutation on its way. Decide and Finish are called on the committer's thread; neither may
// block.
class Command {
 public:
  virtual ~Command() = default;

  // After this moment the command is dropped unjudged: kDeadlineExceeded, nothing written.
  virtual Deadline deadline() const = 0;

  // Judges the command. Can be called again, with a newer view: everything kept from the call
  // before is void then. Reads only through the view, notes each fact in the footprint.
  virtual Proposal Decide(const DecideContext& context) = 0;

  // Called exactly once, last.
  virtual void Finish(const CommandOutcome& outcome) = 0;
};

}  // namespace engine
