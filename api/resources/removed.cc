#include "api/resources/removed.h"

#include <algorithm>

#include "engine/base/checksum.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "schemas/streams.h"

namespace api {
namespace {

constexpr int kPageRows = 1000;
// How long a caller waits for its turn: it takes a worker from others.
constexpr engine::Duration kPatience = std::chrono::seconds(2);

engine::Position FloorIn(const std::vector<engine::StreamTail>& tails) {
  const auto tail =
      std::ranges::find(tails, schemas::kResourcesStream, &engine::StreamTail::stream);
  return tail == tails.end() ? engine::Position::kBeforeFirst : tail->floor.position;
}

}  // namespace

absl::StatusOr<std::optional<engine::Position>> RemovedResources::Find(
    engine::Journal& journal, std::string_view id, const engine::StreamCursor& head,
    engine::Deadline deadline) {
  RETURN_IF_ERROR(BeginTurn(deadline));
  const absl::Status status = ReadUpTo(journal, head, deadline);
  std::optional<engine::Position> found;
  const auto at = tombstones_.find(engine::Checksum64(id));
  if (at != tombstones_.end() && at->second <= head.position) {
    found = at->second;
  }
  EndTurn();
  RETURN_IF_ERROR(status);
  return found;
}

absl::Status RemovedResources::BeginTurn(engine::Deadline deadline) {
  deadline = deadline.EarlierOf(engine::Deadline::After(kPatience));
  engine::MutexLock lock(mutex_);
  while (is_reading_) {
    if (!turn_ended_.WaitUntil(mutex_, deadline)) {
      return absl::ResourceExhaustedError("removed resources are being looked for");
    }
  }
  is_reading_ = true;
  return absl::OkStatus();
}

void RemovedResources::EndTurn() {
  {
    engine::MutexLock lock(mutex_);
    is_reading_ = false;
  }
  turn_ended_.Signal();
}

void RemovedResources::Forget() {
  tombstones_.clear();
  read_ = {};
}

// Whether the store has what was read last.
absl::StatusOr<bool> RemovedResources::IsStillThere(engine::Journal& journal,
                                                    engine::Deadline deadline) const {
  ASSIGN_OR_RETURN(const std::vector<engine::Record> rows,
                   journal.ReadStream(schemas::kResourcesStream, read_.position, 1, deadline));
  return !rows.empty() && rows.front().position == read_.position &&
         rows.front().digest == read_.digest;
}

absl::Status RemovedResources::ReadUpTo(engine::Journal& journal, const engine::StreamCursor& head,
                                        engine::Deadline deadline) {
  bool is_known = read_.position == head.position && read_.digest == head.digest;
  // A caller with a newer view had its turn first. Or the store went back.
  if (read_.position > head.position && !GUARD("removed.older-view", false)) {
    ASSIGN_OR_RETURN(is_known, IsStillThere(journal, deadline));
  }
  if (is_known) {
    return absl::OkStatus();
  }
  if (read_.position >= head.position) {
    Forget();  // It is another history.
  }
  ASSIGN_OR_RETURN(const std::vector<engine::StreamTail> tails, journal.Tails(deadline));
  if (const engine::Position floor = FloorIn(tails); floor != floor_) {
    floor_ = floor;
    absl::erase_if(tombstones_, [floor](const auto& known) { return known.second <= floor; });
  }
  while (read_.position < head.position) {
    ASSIGN_OR_RETURN(
        const std::vector<engine::Record> rows,
        journal.ReadStream(schemas::kResourcesStream,
                           engine::Next(std::max(read_.position, floor_)), kPageRows, deadline));
    if (rows.empty() || rows.front().position > head.position) {
      return absl::UnavailableError(
          "the store ends before the view that it gave, or was compacted past it");
    }
    const bool is_next = read_.position != engine::Position::kBeforeFirst &&
                         rows.front().position == engine::Next(read_.position);
    const bool follows =
        !is_next || rows.front().digest == engine::ChainDigest(read_.digest, rows.front().checksum);
    if (!GUARD("removed.chain", follows)) {
      Forget();
      continue;
    }
    Take(rows, head.position);
  }
  return absl::OkStatus();
}

void RemovedResources::Take(const std::vector<engine::Record>& rows, engine::Position last) {
  for (const engine::Record& row : rows) {
    if (row.position > last) {
      return;
    }
    if ((row.flags & engine::kTombstone) != 0) {
      tombstones_[engine::Checksum64(row.key)] = row.position;
    }
    read_.position = row.position;
    read_.digest = row.digest;
  }
}

}  // namespace api
