// Batch: the commands of one transaction, from the lock to the rows.
//
// The pure part of the committer: judges commands in order against one view, puts conflicting
// ones aside, and turns what was proposed into finished rows. Talks to no store.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/command.h"
#include "engine/footprint.h"
#include "engine/journal.h"

namespace engine {

struct BatchLimits {
  // A batch takes no more commands once its rows reach this, by RowCost.
  std::size_t bytes = kMaxTransactionBytes / 2;
  std::size_t commands = 1024;
};

// A command that waits for, or is in, a transaction.
struct PendingCommand {
  std::unique_ptr<Command> command;
  bool alone = false;  // Its transaction failed; it is tried again without company.
  int failures = 0;    // Of transactions that it was in.
  // Of the judgement that a conflict made void. While an earlier command of a batch changes what
  // it names, to judge again would most likely be in vain: a queue for one key costs a judgement a
  // commit, not one a commit and waiting command. The first of a batch is always judged.
  Footprint last = {};
};

// One thread; never blocks.
class Batch {
 public:
  // `audit_health` is why the audit cannot be continued; then every command that wants an entry
  // fails with it. `question` is what was asked under the lock for the commands to come.
  Batch(const Catalogue& catalogue, const Question& question, StreamId audit_stream,
        absl::Status audit_health, BatchLimits limits)
      : catalogue_(catalogue),
        question_(question),
        audit_stream_(audit_stream),
        audit_health_(std::move(audit_health)),
        limits_(limits) {}

  // Judges `pending` and keeps it, or hands it back:
  //   kept      it proposed records; they are rows now
  //   finished  it was past its deadline, or its fence does not hold, or it was answered before,
  //             or proposed nothing, or proposed what the journal's limits refuse: it was told
  //   deferred  it touches what an earlier command changed, or has its key, or there is no room:
  //             `pending` belongs to the next batch
  enum class Verdict { kKept, kFinished, kDeferred };
  Verdict Judge(PendingCommand& pending, const View& view, const LockedState& state);

  const std::vector<Record>& rows() const { return rows_; }
  const std::vector<KeptAnswer>& answers() const { return answers_; }
  bool empty() const { return kept_.empty(); }
  std::size_t size() const { return kept_.size(); }
  // The earliest deadline of the kept commands. REQUIRES: not empty.
  Deadline EarliestDeadline() const;
  // How many were answered with what was kept, and refused because of it.
  std::uint64_t repeated() const { return repeated_; }
  std::uint64_t key_reused() const { return key_reused_; }

  // Tells those whose deadline has passed that the outcome is unknown; the others are kept.
  void FinishLate(const absl::Status& why);
  // Ends every kept command with `outcome`.
  void Finish(CommandOutcome::Kind kind, const absl::Status& why);
  // Gives the kept commands back, unfinished.
  std::vector<PendingCommand> TakeBack();

 private:
  struct Kept {
    PendingCommand pending;
    std::size_t first_row;
    std::size_t rows;
  };

  // Whether the command's end is plain before it is judged.
  std::optional<Verdict> JudgeTerms(Command& command, const LockedState& state);
  absl::Status JudgeFence(const Command& command, const LockedState& state) const;
  std::optional<Verdict> JudgeKey(Command& command, const LockedState& state);
  absl::Status CheckMayWrite(const Command& command, const Proposal& proposal) const;
  Verdict Keep(PendingCommand& pending, Proposal proposal, const LockedState& state);
  absl::Status Seal(Proposal proposal, const LockedState& state);
  absl::Status AddAnswer(Command& command, std::size_t first_row);
  absl::Status AppendRow(RecordDraft draft, const LockedState& state);
  StreamTail& TailOf(StreamId stream);

  const Catalogue& catalogue_;
  const Question& question_;
  const StreamId audit_stream_;
  const absl::Status audit_health_;
  const BatchLimits limits_;
  ChangedFacts changed_;
  std::vector<StreamTail> tails_;  // As the rows so far leave them.
  std::vector<Record> rows_;
  std::vector<KeptAnswer> answers_;
  std::vector<Kept> kept_;
  std::uint64_t repeated_ = 0;
  std::uint64_t key_reused_ = 0;
  std::size_t bytes_ = 0;
  Tx tx_ = Tx::kBeforeFirst;
};

}  // namespace engine
