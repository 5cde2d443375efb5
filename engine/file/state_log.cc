#include "engine/file/state_log.h"

#include <algorithm>
#include <utility>

#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "engine/file/damage.h"

namespace engine::file {
namespace {

using memory::Row;
using memory::RowKey;
using memory::Verdict;

// A frame takes no more changes when it has as many bytes; each is at most a little over 1 MiB.
constexpr std::size_t kFrameBytes = std::size_t{8} << 20;

}  // namespace

class StateLog::Staged {
 public:
  explicit Staged(const memory::RowTable& rows, Timestamp now) : rows_(rows), now_(now) {}

  Timestamp now() const { return now_; }
  std::size_t bytes() const { return bytes_; }

  const Row* Find(const RowKey& key) const {
    const auto found = changed_.find(key);
    if (found == changed_.end()) {
      return rows_.Find(key);
    }
    return found->second.has_value() ? &*found->second : nullptr;
  }

  void Set(const RowKey& key, std::optional<Row> row) {
    bytes_ += EncodedSize(key, row.has_value() ? &*row : nullptr);
    changed_[key] = std::move(row);
  }

  int RemoveExpired(int limit) {
    int removed = 0;
    for (const RowKey& key : rows_.Expired(now_, static_cast<std::size_t>(limit))) {
      const Row* row = Find(key);
      if (row != nullptr && !row->IsLive(now_)) {
        Set(key, std::nullopt);
        ++removed;
      }
    }
    return removed;
  }

  std::vector<StateChange> TakeChanges() {
    std::vector<StateChange> changes;
    changes.reserve(changed_.size());
    for (auto& [key, row] : changed_) {
      changes.push_back({key, std::move(row)});
    }
    return changes;
  }

 private:
  const memory::RowTable& rows_;
  const Timestamp now_;
  std::map<RowKey, std::optional<Row>> changed_;
  std::size_t bytes_ = 0;
};

StateLog::StateLog(const Directory& directory, Options options, StateContents contents)
    : directory_(directory),
      options_(options),
      rows_(std::move(contents.rows)),
      generation_(contents.generation),
      header_(contents.header),
      size_(contents.size),
      last_(contents.last),
      digest_(contents.digest) {
  for (const auto& [key, row] : rows_.all()) {
    live_bytes_ += EncodedSize(key, &row);
  }
}

void StateLog::Stop(const absl::Status& why) {
  MutexLock lock(mutex_);
  if (fatal_.ok()) {
    fatal_ = absl::UnavailableError("the state takes no writes until a restart: " + MessageOf(why));
  }
}

absl::Status StateLog::Change(const RowKey& key, const Decide& decide, Deadline deadline) {
  const Step step = [&](Staged& staged) {
    Verdict verdict = decide(staged.Find(key), staged.now());
    if (verdict.changes) {
      staged.Set(key, std::move(verdict.row));
    }
  };
  return Execute(step, deadline);
}

std::optional<Row> StateLog::Read(const RowKey& key) const {
  MutexLock lock(mutex_);
  const Row* row = rows_.Find(key);
  return row == nullptr ? std::nullopt : std::optional(*row);
}

absl::StatusOr<int> StateLog::Sweep(int limit, Deadline deadline) {
  constexpr int kSweptPerFrame = 4096;
  int all = 0;
  while (all < limit) {
    const int wanted = std::min(limit - all, kSweptPerFrame);
    int removed = 0;
    RETURN_IF_ERROR(
        Execute([&](Staged& staged) { removed = staged.RemoveExpired(wanted); }, deadline));
    all += removed;
    if (removed < wanted) {
      break;
    }
  }
  return all;
}

absl::Status StateLog::Execute(const Step& step, Deadline deadline) {
  Pending mine{.step = step};
  MutexLock lock(mutex_);
  waiting_.push_back(&mine);
  while (!mine.done) {
    if (!leading_) {
      Lead();
    } else if (mine.taken) {
      done_.Wait(mutex_);  // Its outcome would be unknown if we left now.
    } else if (!done_.WaitUntil(mutex_, deadline) && deadline.HasPassed() && !mine.taken) {
      std::erase(waiting_, &mine);
      return absl::DeadlineExceededError("waiting to write the state");
    }
  }
  return mine.status;
}

// Judges what waits, in its order, writes what came of it as one frame, and shows it.
void StateLog::Lead() {
  leading_ = true;
  Staged staged(rows_, options_.clock->Now());
  std::vector<Pending*> batch;
  absl::Status status = fatal_;
  for (Pending* pending : waiting_) {
    if (staged.bytes() >= kFrameBytes) {
      break;
    }
    if (status.ok()) {
      pending->step(staged);
    }
    pending->taken = true;
    batch.push_back(pending);
  }
  waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(batch.size()));
  std::vector<StateChange> changes = staged.TakeChanges();
  if (status.ok() && !changes.empty()) {
    mutex_.Unlock();
    status = Write(changes);
    mutex_.Lock();
    if (status.ok()) {
      Apply(std::move(changes));
    }
  }
  for (Pending* pending : batch) {
    pending->status = status;
    pending->done = true;
  }
  done_.SignalAll();
  const bool leave = !status.ok() || !RewriteIsDue();
  if (!GUARD("file.state-rewrite", leave)) {
    mutex_.Unlock();
    Report(Rewrite());
    mutex_.Lock();
  }
  leading_ = false;
  done_.SignalAll();
}

std::uint64_t StateLog::SizeOf(const RowKey& key) const {
  const Row* row = rows_.Find(key);
  return row == nullptr ? 0 : EncodedSize(key, row);
}

void StateLog::Apply(std::vector<StateChange> changes) {
  for (StateChange& change : changes) {
    live_bytes_ -= SizeOf(change.key);
    if (change.row.has_value()) {
      live_bytes_ += EncodedSize(change.key, &*change.row);
      rows_.Put(change.key, *std::move(change.row));
    } else {
      rows_.Remove(change.key);
    }
  }
}

}  // namespace engine::file
