#include "tests/support/hooked_journal.h"

#include "engine/base/status_macros.h"

namespace support {

class HookedJournal::HookedTransaction final : public engine::Transaction {
 public:
  HookedTransaction(std::unique_ptr<engine::Transaction> behind, const JournalHooks& hooks,
                    std::string origin)
      : behind_(std::move(behind)), hooks_(hooks), origin_(std::move(origin)) {}

  absl::StatusOr<engine::LockedState> Read(const engine::Question& question) override {
    ASSIGN_OR_RETURN(engine::LockedState state, behind_->Read(question));
    state.news.origin.id += origin_;
    return state;
  }
  absl::Status Append(std::vector<engine::Record> rows,
                      std::vector<engine::KeptAnswer> answers) override {
    rows_ = rows;
    return behind_->Append(std::move(rows), std::move(answers));
  }
  engine::CommitOutcome Commit(engine::Deadline deadline) override {
    const auto commit = [this, deadline] { return behind_->Commit(deadline); };
    return hooks_.on_commit ? hooks_.on_commit(rows_, commit) : commit();
  }

 private:
  std::unique_ptr<engine::Transaction> behind_;
  const JournalHooks& hooks_;
  const std::string origin_;
  std::vector<engine::Record> rows_;
};

absl::StatusOr<std::unique_ptr<engine::Transaction>> HookedJournal::Begin(
    engine::Deadline deadline) {
  if (hooks.before_begin) {
    RETURN_IF_ERROR(hooks.before_begin());
  }
  ASSIGN_OR_RETURN(auto behind, behind_->Begin(deadline));
  return std::make_unique<HookedTransaction>(std::move(behind), hooks, origin_);
}

absl::StatusOr<engine::News> HookedJournal::ReadAfter(const engine::Cursors& after,
                                                      engine::Deadline deadline) {
  ASSIGN_OR_RETURN(engine::News news, behind_->ReadAfter(after, deadline));
  if (hooks.after_read) {
    RETURN_IF_ERROR(hooks.after_read());
  }
  news.origin.id += origin_;
  return news;
}

}  // namespace support
