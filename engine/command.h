// Command: one mutation on its way, as the committer sees it.
//
// A transaction reads first and then is data: `Decide` looks at committed state under the lock
// and says what is to be written; nothing conditional is left to the store.

#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
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
    kFailed,     // Nothing was written: why has the reason; IsFenced (engine/fence.h) if its
                 // fence did not hold.
    kUnknown,    // It may have been written; it could not be settled within the deadline.
    kRepeated,   // It was done before, in `tx`: `answer` is what was kept then. Not judged.
    kKeyReused,  // Its key belongs to another request, that of `tx`. Not judged.
  };
  Kind kind = Kind::kFailed;
  absl::Status why = absl::OkStatus();
  Tx tx = Tx::kBeforeFirst;
  std::span<const Record> records = {};  // Valid during the call only.
  std::string_view answer = {};          // Likewise.
};

// Makes a command one that is done once, however often it is sent: its answer is kept in the
// transaction that does it.
struct RetryKey {
  std::string key;      // As of KeptAnswer: SHA-256, 32 bytes.
  std::string request;  // Likewise; another one under the same key is refused.
};

// One mutation on its way. Decide and AnswerToKeep are called on the committer's thread, Finish on
// that or another of its threads, never two of them at once; none may block.
class Command {
 public:
  virtual ~Command() = default;

  // After this moment the command is dropped unjudged: kDeadlineExceeded, nothing written. Nor
  // does a commit of it begin later.
  virtual Deadline deadline() const = 0;

  // Null: it has no key. The same at every call.
  virtual const RetryKey* retry_key() const { return nullptr; }

  // The term that it acts in; null: in none. The same at every call.
  virtual const Fence* fence() const { return nullptr; }

  // Judges the command. Can be called again, with a newer view: everything kept from the call
  // before is void then. Reads only through the view, notes each fact in the footprint.
  virtual Proposal Decide(const DecideContext& context) = 0;

  // What a retry will be answered, where the command has a key and proposed records: `outcome` is
  // what Finish will be called with if the transaction commits. The last Decide stands.
  virtual std::string AnswerToKeep(const CommandOutcome& /*outcome*/) { return {}; }

  // Called exactly once, last.
  virtual void Finish(const CommandOutcome& outcome) = 0;
};

}  // namespace engine
