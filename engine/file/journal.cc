#include "engine/file/journal.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <absl/strings/str_format.h>
#include <sys/statvfs.h>

#include "engine/append_check.h"
#include "engine/base/guard.h"
#include "engine/base/logging.h"
#include "engine/base/reason.h"
#include "engine/base/status_macros.h"
#include "engine/file/damage.h"

namespace engine::file {
class FileTransaction final : public Transaction {
 public:
  FileTransaction(FileJournal& journal, Deadline deadline)
      : journal_(journal), deadline_(deadline) {}
  ~FileTransaction() override {
    if (open_) {
      journal_.Unlock();
    }
  }

  absl::StatusOr<LockedState> Read(const Question& question) override {
    ASSIGN_OR_RETURN(LockedState state, journal_.ReadLocked(question, deadline_));
    ASSIGN_OR_RETURN(state.fences, terms_.Judge(journal_.leases_, question.fences, deadline_));
    return state;
  }

  absl::Status Append(std::vector<Record> rows, std::vector<KeptAnswer> answers) override {
    RETURN_IF_ERROR(journal_.Check({rows, answers}));
    rows_ = std::move(rows);
    answers_ = std::move(answers);
    return absl::OkStatus();
  }

  CommitOutcome Commit(Deadline deadline) override {
    CommitOutcome outcome = CommitLocked(deadline.EarlierOf(deadline_));
    open_ = false;
    terms_.Leave();
    journal_.Unlock();
    return outcome;
  }

 private:
  CommitOutcome CommitLocked(Deadline deadline) {
    if (rows_.empty()) {
      return {CommitOutcome::Kind::kFailed, absl::InvalidArgumentError("nothing was appended")};
    }
    if (!GUARD("file.commit-deadline", !deadline.HasPassed())) {
      return {CommitOutcome::Kind::kFailed,
              absl::DeadlineExceededError("the deadline passed before the commit")};
    }
    return journal_.Write({rows_, answers_});
  }

  FileJournal& journal_;
  const Deadline deadline_;
  memory::LockedTerms terms_;
  std::vector<Record> rows_;
  std::vector<KeptAnswer> answers_;
  bool open_ = true;
};

FileJournal::FileJournal(std::unique_ptr<Directory> directory, Catalogue catalogue,
                         Contents contents, Writing writing, Options options)
    : directory_(std::move(directory)),
      options_(std::move(options)),
      writing_(std::move(writing)),
      state_(std::move(catalogue), std::move(contents)),
      key_value_(Rows()),
      leases_(Rows()) {
  if (writing_.rows != nullptr) {
    writing_.rows->OnFatal([this](const absl::Status& why) { Stop(why); });
  }
  if (writing_.head != nullptr) {
    unmarked_ = !state_.IsSealed();
    marker_ = Thread("file-head-mark", [this] { MarkUntilStopped(); });
  }
}

memory::Rows& FileJournal::Rows() {
  return writing_.rows != nullptr ? static_cast<memory::Rows&>(*writing_.rows) : no_rows_;
}

FileJournal::~FileJournal() {
  {
    MutexLock lock(mutex_);
    stopping_ = true;
  }
  wake_.SignalAll();
  marker_.Join();
  if (writing_.head != nullptr && Fatal().ok()) {
    Mark();
  }
}

absl::Status FileJournal::ReadLastPayloads() {
  for (const StreamTail& tail : state_.Tails()) {
    const auto spec = std::ranges::find(catalogue(), tail.stream, &StreamSpec::id);
    if (!spec->chained || tail.position == Position::kBeforeFirst) {
      continue;
    }
    ASSIGN_OR_RETURN(const std::vector<Record> last,
                     ReadStream(tail.stream, tail.position, 1, Deadline::Infinite()));
    state_.SetLastPayload(tail.stream, last.front().payload);
  }
  return absl::OkStatus();
}

absl::Status FileJournal::Fatal() const {
  MutexLock lock(mutex_);
  return fatal_;
}

// Nothing may be written from now on.
void FileJournal::Stop(const absl::Status& why) {
  {
    MutexLock lock(mutex_);
    if (!fatal_.ok()) {
      return;
    }
    fatal_ = absl::UnavailableError(
        absl::StrFormat("the journal takes no writes until a restart: %s", MessageOf(why)));
  }
  if (writing_.rows != nullptr) {
    writing_.rows->Stop(why);
  }
  Log(Severity::kError, "the journal cannot be written any more",
      {{"directory", directory_->path()}, {"why", MessageOf(why)}});
  if (options_.on_fatal) {
    options_.on_fatal(why);
  } else {
    std::_Exit(EXIT_FAILURE);
  }
}

absl::Status FileJournal::CheckReady(Deadline) {
  if (writing_.log == nullptr) {
    return absl::UnavailableError("the journal is open for reading only");
  }
  RETURN_IF_ERROR(Fatal());
  struct statvfs info = {};
  if (fstatvfs(directory_->fd(), &info) != 0) {
    return DiskError(absl::StrFormat("asking for space in %s", directory_->path()));
  }
  if ((info.f_flag & ST_RDONLY) != 0) {
    return absl::UnavailableError(
        absl::StrFormat("%s is mounted for reading only", directory_->path()));
  }
  if (static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize < kMaxTransactionBytes) {
    return WithReason(Reason::kDiskFull, absl::UnavailableError(absl::StrFormat(
                                             "the disk of %s is full", directory_->path())));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<Transaction>> FileJournal::Begin(Deadline deadline) {
  if (writing_.log == nullptr) {
    return absl::UnavailableError("the journal is open for reading only");
  }
  if (!lock_.Take(deadline)) {
    return WithReason(Reason::kLockBusy,
                      absl::DeadlineExceededError("waiting for the journal's lock"));
  }
  auto transaction = std::make_unique<FileTransaction>(*this, deadline);
  RETURN_IF_ERROR(Fatal());
  return transaction;
}

absl::StatusOr<LockedState> FileJournal::ReadLocked(const Question& question, Deadline deadline) {
  LockedState state;
  // Nothing can be appended between these calls: the lock is held.
  ASSIGN_OR_RETURN(state.news, ReadAfter(question.after, deadline));
  const State::Cut cut = state_.Now();
  state.tails = cut.tails;
  state.last_tx = cut.end.tx;
  state.now = options_.clock->Now();
  for (const StreamTail& tail : state.tails) {
    state.now = std::max(state.now, tail.at);
  }
  state.answers = state_.Answers(question.answers);
  return state;
}

absl::Status FileJournal::Check(const Appending& appending) const {
  if (state_.HasAnyAnswer(appending.answers)) {
    return absl::AbortedError("the key has an answer already");
  }
  const State::Cut cut = state_.Now();
  return CheckAppend(catalogue(), cut.tails, cut.end.tx, appending);
}

absl::StatusOr<int> FileJournal::PruneAnswers(Duration age, int limit, Deadline) {
  return static_cast<int>(state_.PruneAnswers(AnswersBefore(options_.clock->Now(), age),
                                              static_cast<std::size_t>(limit)));
}

CommitOutcome FileJournal::Write(const Appending& appending) {
  using Kind = CommitOutcome::Kind;
  // The head mark's thread may have met a failed sync while this transaction was open.
  if (absl::Status fatal = Fatal(); !fatal.ok()) {
    return {Kind::kFailed, std::move(fatal)};
  }
  const absl::StatusOr<SegmentLog::Appended> appended = writing_.log->Append(appending);
  if (absl::IsInternal(appended.status())) {
    Stop(appended.status());
    return {Kind::kUnknown, absl::UnknownError(MessageOf(appended.status()))};
  }
  if (!appended.ok()) {
    return {Kind::kFailed, appended.status()};
  }
  state_.Publish(*appended, appending);
  WantMark();
  return {Kind::kCommitted, absl::OkStatus()};
}

void FileJournal::WantMark() {
  bool was_marked = false;
  {
    MutexLock lock(mutex_);
    was_marked = !std::exchange(unmarked_, true);
  }
  if (was_marked) {
    wake_.SignalAll();
  }
}

void FileJournal::MarkUntilStopped() {
  while (WaitToMark()) {
    Mark();
  }
}

// Returns when a mark is due; false when the engine is being destroyed.
bool FileJournal::WaitToMark() {
  MutexLock lock(mutex_);
  while (!unmarked_ && !stopping_) {
    wake_.Wait(mutex_);
  }
  const Deadline due = Deadline::After(options_.mark_interval);
  while (!stopping_ && !due.HasPassed()) {
    wake_.WaitUntil(mutex_, due);
  }
  unmarked_ = false;
  return !stopping_;
}

void FileJournal::Mark() {
  absl::Status status = writing_.head->Write(state_.End());
  if (status.ok()) {
    status = Seal();
  }
  if (absl::IsInternal(status)) {
    Stop(status);
    return;
  }
  if (!status.ok()) {
    // The older ones stand: less is noticed, more is read at the next start, nothing is lost. The
    // next commit brings them back.
    Log(Severity::kWarning, "the head mark or the list of closed segments could not be written",
        {{"directory", directory_->path()}, {"why", MessageOf(status)}});
  }
}

// Closed segments lie before the head mark, so what is told of them is durable.
absl::Status FileJournal::Seal() {
  const std::optional<std::vector<SegmentFacts>> closed = state_.TakeUnsealed();
  if (!closed.has_value()) {
    return absl::OkStatus();
  }
  absl::Status status = WriteSealed(*directory_, *closed);
  if (!status.ok()) {
    state_.SealFailed();
  }
  return status;
}

}  // namespace engine::file
