// PostgresTransaction: a transaction of the journal, in two round trips and one to open it.
//
//   1. BEGIN, settings, the lock
//   2. tails, the time, news, answers, fences
//   3. all rows in one INSERT, the answers in another, COMMIT
//
// See engine/journal.h for what it promises.

#pragma once

#include <optional>
#include <vector>

#include "engine/journal.h"
#include "engine/postgres/lives.h"
#include "engine/postgres/pool.h"
#include "engine/postgres/rows.h"
#include "engine/postgres/statements.h"

namespace engine::postgres {

class PostgresTransaction final : public Transaction {
 public:
  // Opens a transaction on `lease` and waits for the lock. Fails with kDeadlineExceeded when it
  // is held too long, and as a connection fails; the lease is given back then.
  static absl::StatusOr<std::unique_ptr<Transaction>> Begin(const Catalogue& catalogue,
                                                            const Statements& statements,
                                                            Pool::Lease lease, Lives& lives,
                                                            Deadline deadline);
  ~PostgresTransaction() override;

  absl::StatusOr<LockedState> Read(const Question& question) override;
  absl::Status Append(std::vector<Record> rows, std::vector<KeptAnswer> answers) override;
  CommitOutcome Commit(Deadline deadline) override;

 private:
  PostgresTransaction(const Catalogue& catalogue, const Statements& statements, Pool::Lease lease,
                      Lives& lives, Deadline deadline)
      : catalogue_(catalogue),
        statements_(statements),
        lease_(std::move(lease)),
        lives_(lives),
        deadline_(deadline) {}

  absl::Status TakeLock();
  absl::Status Ask(const Question& question, LockedState* state);
  std::size_t AddFenceSteps(const std::vector<Fence>& fences, std::vector<Step>& steps) const;
  CommitOutcome Judge(const RunOutcome& outcome);
  // The deadline on the server's clock; never later, however long an answer took.
  std::optional<Timestamp> OnServer(Deadline deadline) const;
  void RollBack();

  const Catalogue& catalogue_;
  const Statements& statements_;
  Pool::Lease lease_;
  Lives& lives_;
  const Deadline deadline_;
  std::uint32_t locked_oid_ = 0;
  bool open_ = false;   // The server has a transaction that must be ended.
  AllTails ends_;       // Filled by the first read,
  Duration read_at_{};  // and since boot when its answer was there.
  bool read_ = false;
  std::vector<Record> rows_;
  std::vector<KeptAnswer> answers_;
};

}  // namespace engine::postgres
