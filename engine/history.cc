#include "engine/history.h"

#include <algorithm>
#include <atomic>
#include <optional>
#include <vector>

#include "engine/base/bytes.h"
#include "engine/base/guard.h"
#include "engine/base/logging.h"
#include "engine/base/status_macros.h"

namespace engine {
namespace {

std::atomic<std::uint64_t> changes = 0;

// What the store has at the position of a cursor.
struct Compared {
  StreamCursor ours;
  std::optional<Digest> theirs;  // Empty: nothing.
  bool compacted = false;        // The store was compacted past it: nothing can be said.
  bool Differs() const { return !theirs.has_value() || *theirs != ours.digest; }
};

std::optional<Digest> DigestAt(const News& news, const StreamCursor& cursor) {
  const auto row = std::ranges::find_if(news.rows, [&](const Record& record) {
    return record.stream == cursor.stream && record.position == cursor.position;
  });
  return row == news.rows.end() ? std::nullopt : std::optional(row->digest);
}

StreamCursor Before(StreamCursor cursor) {
  cursor.position = Position{Raw(cursor.position) - 1};
  cursor.digest = Digest::kEmpty;
  return cursor;
}

// One page that begins with the rows at the cursors. A page that was cut may lack some of them:
// those streams are asked for alone. Empty when another life answers meanwhile.
absl::StatusOr<std::optional<std::vector<Compared>>> Compare(Journal& journal,
                                                             const Cursors& cursors,
                                                             Deadline deadline, Origin& origin) {
  Cursors after;
  std::vector<Compared> compared;
  for (const StreamCursor& cursor : cursors) {
    if (cursor.position != Position::kBeforeFirst) {
      after.push_back(Before(cursor));
      compared.push_back({.ours = cursor, .theirs = std::nullopt});
    }
  }
  ASSIGN_OR_RETURN(const News news, journal.ReadAfter(after, deadline));
  origin = news.origin;
  for (Compared& stream : compared) {
    stream.theirs = DigestAt(news, stream.ours);
    stream.compacted =
        std::ranges::find(news.compacted, stream.ours.stream) != news.compacted.end();
    if (stream.theirs.has_value() || news.complete || stream.compacted) {
      continue;
    }
    ASSIGN_OR_RETURN(const News alone, journal.ReadAfter({Before(stream.ours)}, deadline));
    if (alone.origin != origin) {
      return std::nullopt;
    }
    stream.theirs = DigestAt(alone, stream.ours);
  }
  return compared;
}

void Tell(const Compared& stream, const Origin& origin) {
  changes.fetch_add(1, std::memory_order_relaxed);
  Log(Severity::kError, "history changed",
      {{"stream", Raw(stream.ours.stream)},
       {"position", Raw(stream.ours.position)},
       {"digest", ToHex(Raw(stream.ours.digest))},
       {"store_digest", stream.theirs.has_value() ? ToHex(Raw(*stream.theirs)) : "none"},
       {"origin", origin.id}});
}

// A stream stops, as if it were damaged, when rows that we know were replaced before we looked and
// the news goes on behind them. The row at its cursor tells: it is ours still, or another one.
absl::Status CheckStopped(Journal& journal, Follower& follower, const View& view,
                          std::span<const StreamTail> tails, Deadline deadline) {
  for (const StreamView& stream : view.streams) {
    const auto tail = std::ranges::find(tails, stream.stream, &StreamTail::stream);
    if (!absl::IsDataLoss(stream.health) || stream.position == Position::kBeforeFirst ||
        tail == tails.end() || stream.position < tail->floor.position) {
      continue;
    }
    ASSIGN_OR_RETURN(const std::vector<Record> rows,
                     journal.ReadStream(stream.stream, stream.position, 1, deadline));
    Compared compared{.ours = {stream.stream, stream.position, stream.digest},
                      .theirs = std::nullopt};
    if (!rows.empty() && rows.front().position == stream.position) {
      compared.theirs = rows.front().digest;
    }
    if (!GUARD("history.stopped", !compared.Differs())) {
      Tell(compared, {});
      const StreamId streams[] = {stream.stream};
      follower.Rebuild(streams, absl::UnavailableError("the history in the store is another one"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ConfirmHistory(Journal& journal, Follower& follower, Deadline deadline) {
  while (true) {
    const Cursors cursors = follower.cursors();
    Origin origin;
    ASSIGN_OR_RETURN(const auto compared, Compare(journal, cursors, deadline, origin));
    if (!compared.has_value()) {
      continue;
    }
    std::vector<StreamId> differing;
    for (const Compared& stream : *compared) {
      if (!GUARD("history.digests", !stream.Differs())) {
        differing.push_back(stream.ours.stream);
      }
    }
    if (!follower.Adopt(origin, cursors, differing)) {
      continue;
    }
    for (const Compared& stream : *compared) {
      // What was only compacted is read anew, and no cause for alarm.
      if (std::ranges::find(differing, stream.ours.stream) != differing.end() &&
          !stream.compacted) {
        Tell(stream, origin);
      }
    }
    return absl::OkStatus();
  }
}

absl::Status CheckHeads(Journal& journal, std::span<Follower* const> followers, Deadline deadline) {
  std::vector<ViewPtr> views;  // From before the store is asked: it can only be further then.
  for (const Follower* follower : followers) {
    views.push_back(follower->view());
  }
  ASSIGN_OR_RETURN(const std::vector<StreamTail> tails, journal.Tails(deadline));
  for (std::size_t i = 0; i < followers.size(); ++i) {
    const Cursors cursors = views[i]->cursors();
    const bool differs = std::ranges::any_of(cursors, [&](const StreamCursor& cursor) {
      const auto tail = std::ranges::find(tails, cursor.stream, &StreamTail::stream);
      return tail != tails.end() &&
             (tail->position < cursor.position ||
              (tail->position == cursor.position && tail->digest != cursor.digest));
    });
    if (!GUARD("history.heads", !differs)) {
      followers[i]->Doubt();
    }
    RETURN_IF_ERROR(CheckStopped(journal, *followers[i], *views[i], tails, deadline));
  }
  return absl::OkStatus();
}

std::uint64_t HistoryChanges() {
  return changes.load(std::memory_order_relaxed);
}

}  // namespace engine
