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
#include "engine/compaction_check.h"
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

absl::StatusOr<Floor> FileJournal::Compact(const CompactionStep& step, Deadline deadline) {
  if (writing_.log == nullptr) {
    return absl::UnavailableError("the journal is open for reading only");
  }
  if (!compaction_.Take(deadline)) {
    return absl::DeadlineExceededError("waiting for another compaction");
  }
  absl::StatusOr<Floor> floor = CompactInTurn(step);
  if (floor.ok()) {
    if (const absl::Status rewritten = RewriteSparsest(); absl::IsInternal(rewritten)) {
      floor = rewritten;
    } else if (!rewritten.ok()) {
      // The step is done; the room that it left is gained another time.
      Log(Severity::kWarning, "a segment could not be written anew",
          {{"directory", directory_->path()}, {"why", MessageOf(rewritten)}});
    }
  }
  compaction_.Leave();
  if (absl::IsInternal(floor.status())) {
    Stop(floor.status());
    return absl::UnavailableError(MessageOf(floor.status()));
  }
  return floor;
}

// The step is done when the list of floors is in its place: until then the old one holds, and the
// rows that are removed still lie where they were.
absl::StatusOr<Floor> FileJournal::CompactInTurn(const CompactionStep& step) {
  RETURN_IF_ERROR(Fatal());
  const State::Cut cut = state_.Now();
  const auto tail = std::ranges::find(cut.tails, step.stream, &StreamTail::stream);
  RETURN_IF_ERROR(
      CheckCompaction(catalogue(), tail == cut.tails.end() ? StreamTail() : *tail, step));
  ASSIGN_OR_RETURN(const std::uint64_t sum, SumOf(step));
  std::vector<Position> removed(step.remove.size());
  std::ranges::transform(step.remove, removed.begin(), &RowKey::position);
  const Floor floor = FloorAfter(step, removed.size(), sum);
  Floors floors = cut.floors->Raised(step.stream, floor, removed);
  RETURN_IF_ERROR(floors.Write(*directory_));
  state_.Compact(step.stream, removed, std::move(floors));
  return floor;
}

// Gives the room of dead rows back, one segment at a time. At every moment the directory holds the
// old segment or the new one, and a list of floors that is right for both.
absl::Status FileJournal::RewriteSparsest() {
  const std::optional<SegmentId> old = state_.Sparsest();
  if (!old.has_value()) {
    return absl::OkStatus();
  }
  // A mark in the segment would not be found in the new one.
  RETURN_IF_ERROR(writing_.head->Settle(state_.End()));
  const std::shared_ptr<const Floors> floors = state_.Now().floors;
  ASSIGN_OR_RETURN(const RewrittenSegment rewritten,
                   RewriteSegment(*directory_, *old, *floors, *options_.random));
  Floors left = floors->Without(rewritten.gone);
  const bool replaced = state_.Replace(rewritten, left);
  // Whoever still wants the old file finds it gone, and looks again.
  const SegmentId useless = replaced ? *old : rewritten.facts.id;
  WantMark();  // And with it `sealed`.
  if (directory_->disk().Remove(directory_->fd(), SegmentName(useless)) != 0) {
    return DiskError("removing " + SegmentName(useless));
  }
  return replaced ? left.Write(*directory_) : absl::OkStatus();
}

// Of the checksums of the rows that the step removes.
absl::StatusOr<std::uint64_t> FileJournal::SumOf(const CompactionStep& step) const {
  RowReader reader(*directory_);
  std::uint64_t sum = 0;
  std::uint64_t found = 0;
  for (const RowKey& removed : step.remove) {
    ASSIGN_OR_RETURN(const std::vector<Place> place,
                     Places(step.stream, removed.position, removed.position, 1));
    if (place.empty()) {
      continue;
    }
    ASSIGN_OR_RETURN(const RowView row, reader.Read(place.front()));
    if (row.stream == step.stream && row.position == removed.position && row.key == removed.key) {
      ++found;
      sum += row.checksum;
    }
  }
  if (!GUARD("file.removed-rows", found == step.remove.size())) {
    return RowsAreMissing(step, found);
  }
  return sum;
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
