#include "api/dispatch/past.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "api/dispatch/cursor.h"
#include "engine/base/guard.h"
#include "engine/base/status_macros.h"
#include "engine/follower.h"

namespace api {
namespace {

constexpr std::size_t kKept = 2;

// The last row of a stream that is not later than `time`; empty: there is none. Rows are looked at
// one by one: a few dozen look-ups in a stream of any length.
absl::StatusOr<std::optional<engine::Record>> LastRowAt(engine::Journal& journal,
                                                        const engine::StreamTail& tail,
                                                        engine::Timestamp time,
                                                        engine::Deadline deadline) {
  std::optional<engine::Record> found;
  std::uint64_t first = std::max<std::uint64_t>(engine::Raw(tail.floor.position), 1);
  std::uint64_t behind = engine::Raw(tail.position) + 1;
  while (first < behind) {
    const std::uint64_t middle = first + (behind - first) / 2;
    ASSIGN_OR_RETURN(std::vector<engine::Record> rows,
                     journal.ReadStream(tail.stream, engine::Position{middle}, 1, deadline));
    if (rows.empty() || rows.front().position != engine::Position{middle}) {
      return absl::OutOfRangeError("the stream was compacted meanwhile");
    }
    if (rows.front().at <= time) {
      found = std::move(rows.front());
      first = middle + 1;
    } else {
      behind = middle;
    }
  }
  return found;
}

}  // namespace

std::optional<PastPoint> ParsePastPoint(std::string_view text) {
  std::uint64_t tx = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), tx);
  if (error == std::errc() && end == text.data() + text.size()) {
    return engine::Tx{tx};
  }
  if (const std::optional<engine::Timestamp> time = engine::ParseTimestamp(text)) {
    return *time;
  }
  return std::nullopt;
}

absl::StatusOr<engine::ViewPtr> Past::ViewAt(const PastPoint& point, engine::Deadline deadline) {
  {
    engine::MutexLock lock(mutex_);
    if (!GUARD("past.one-at-a-time", !is_folding_)) {
      return absl::ResourceExhaustedError("another point of the past is being folded");
    }
    is_folding_ = true;
  }
  absl::StatusOr<engine::ViewPtr> view = nullptr;
  if (const absl::StatusOr<engine::Tx> tx = Resolve(point, deadline); tx.ok()) {
    view = Fold(*tx, deadline);
  } else {
    view = tx.status();
  }
  engine::MutexLock lock(mutex_);
  is_folding_ = false;
  return view;
}

absl::StatusOr<engine::Tx> Past::Resolve(const PastPoint& point, engine::Deadline deadline) {
  ASSIGN_OR_RETURN(const std::vector<engine::StreamTail> tails, journal_.Tails(deadline));
  engine::Tx last = engine::Tx::kBeforeFirst;
  engine::Timestamp newest;
  for (const engine::StreamTail& tail : tails) {
    last = std::max(last, tail.tx);
    newest = std::max(newest, tail.at);
  }
  if (const auto* tx = std::get_if<engine::Tx>(&point)) {
    if (*tx > last) {
      return absl::InvalidArgumentError("that transaction has not been");
    }
    return *tx;
  }
  const auto time = std::get<engine::Timestamp>(point);
  if (time > std::max(newest, engine::SystemClock().Now())) {
    return absl::InvalidArgumentError("that time has not come");
  }
  return time >= newest ? absl::StatusOr<engine::Tx>(last) : LastTxAt(time, tails, deadline);
}

absl::StatusOr<engine::Tx> Past::LastTxAt(engine::Timestamp time,
                                          const std::vector<engine::StreamTail>& tails,
                                          engine::Deadline deadline) {
  engine::Tx last = engine::Tx::kBeforeFirst;
  for (const auto& projection : projections_()) {
    const auto tail = std::ranges::find(tails, projection->stream(), &engine::StreamTail::stream);
    ASSIGN_OR_RETURN(const auto row, LastRowAt(journal_, *tail, time, deadline));
    if (row) {
      last = std::max(last, row->tx);
    }
  }
  return last;
}

engine::ViewPtr Past::FindKept(engine::Tx tx) const {
  engine::MutexLock lock(mutex_);
  const auto found = std::ranges::find(kept_, tx, &Kept::tx);
  return found == kept_.end() ? nullptr : found->view;
}

absl::StatusOr<engine::ViewPtr> Past::Fold(engine::Tx tx, engine::Deadline deadline) {
  if (engine::ViewPtr kept = FindKept(tx)) {
    // The store may have another history by now, or less of it.
    absl::Status checked = CheckHistory(journal_, kept->cursors(), deadline);
    if (GUARD("past.kept", checked.ok())) {
      return kept;
    }
    if (!absl::IsFailedPrecondition(checked)) {
      return checked;
    }
  }
  engine::Follower follower(projections_());
  RETURN_IF_ERROR(follower.Replay(journal_, tx, deadline));
  engine::ViewPtr view = follower.view();
  for (const engine::StreamView& stream : view->streams) {
    RETURN_IF_ERROR(stream.health);
  }
  engine::MutexLock lock(mutex_);
  std::erase_if(kept_, [tx](const Kept& kept) { return kept.tx == tx; });
  kept_.push_front({tx, view});
  kept_.resize(std::min(kept_.size(), kKept));
  return view;
}

}  // namespace api
