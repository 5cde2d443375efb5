#include "api/dispatch/cursor.h"

#include <algorithm>
#include <vector>

#include <absl/strings/str_format.h>

#include "engine/base/bytes.h"
#include "engine/base/guard.h"
#include "engine/base/random.h"
#include "engine/base/status_macros.h"

namespace api {
namespace {

constexpr std::string_view kPurpose = "halo cursor 1";
constexpr char kKeyRow[] = "seal/cursors";
// tx, then stream, position and digest of each.
constexpr std::size_t kTxBytes = 8;
constexpr std::size_t kStreamBytes = 4 + 8 + 8;

absl::StatusOr<std::string> KeyIn(const engine::Entry& entry) {
  if (entry.value.size() != engine::Seal::kKeyBytes) {
    return absl::DataLossError("the key of cursors is damaged");
  }
  return entry.value;
}

absl::StatusOr<std::string> GetOrMakeKey(engine::KeyValue& store, engine::Deadline deadline) {
  ASSIGN_OR_RETURN(const auto known, store.Get(kKeyRow, deadline));
  if (known) {
    return KeyIn(*known);
  }
  std::string fresh(engine::Seal::kKeyBytes, '\0');
  engine::SystemRandom().Fill(fresh.data(), fresh.size());
  ASSIGN_OR_RETURN(const bool added, store.Add(kKeyRow, fresh, std::nullopt, deadline));
  if (added) {
    return fresh;
  }
  ASSIGN_OR_RETURN(const auto others, store.Get(kKeyRow, deadline));
  return others ? KeyIn(*others) : absl::UnavailableError("the key of cursors went away");
}

}  // namespace

HistoryCursor CursorOf(const engine::View& view) {
  return {view.tx, view.cursors()};
}

Knowledge Compare(const HistoryCursor& cursor, const engine::View& view, bool is_newest) {
  bool passed = false;
  bool follows_all = true;
  for (const engine::StreamCursor& wanted : cursor.streams) {
    const engine::StreamView* stream = view.Find(wanted.stream);
    if (stream == nullptr) {
      follows_all = false;
    } else if (!GUARD("cursor.at-least", stream->position >= wanted.position)) {
      return Knowledge::kBehind;
    } else if (stream->position > wanted.position) {
      passed = passed || wanted.position != engine::Position::kBeforeFirst;
    } else if (!GUARD("cursor.digest", stream->digest == wanted.digest)) {
      return Knowledge::kOther;
    }
  }
  if (!follows_all && !is_newest && view.tx < cursor.tx) {
    return Knowledge::kBehind;
  }
  return passed ? Knowledge::kPassed : Knowledge::kHas;
}

absl::Status CheckHistory(engine::Journal& journal, const engine::Cursors& cursor,
                          engine::Deadline deadline) {
  ASSIGN_OR_RETURN(const std::vector<engine::StreamTail> tails, journal.Tails(deadline));
  for (const engine::StreamCursor& known : cursor) {
    const auto tail = std::ranges::find(tails, known.stream, &engine::StreamTail::stream);
    if (tail == tails.end()) {
      return absl::FailedPreconditionError("the cursor is of another store");
    }
    if (!GUARD("cursor.floor", known.position >= tail->floor.position)) {
      return absl::OutOfRangeError("the history after the cursor was compacted");
    }
    if (known.position == engine::Position::kBeforeFirst) {
      continue;
    }
    ASSIGN_OR_RETURN(const std::vector<engine::Record> rows,
                     journal.ReadStream(known.stream, known.position, 1, deadline));
    const bool is_same = !rows.empty() && rows.front().position == known.position &&
                         rows.front().digest == known.digest;
    if (!GUARD("cursor.history", is_same)) {
      return absl::FailedPreconditionError("the cursor is of a history that is gone");
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<CursorSeal>> CursorSeal::Open(engine::KeyValue& store,
                                                             engine::Deadline deadline) {
  ASSIGN_OR_RETURN(const std::string key, GetOrMakeKey(store, deadline));
  return std::make_unique<CursorSeal>(key);
}

std::string CursorSeal::Show(const HistoryCursor& cursor) const {
  std::string text;
  text.reserve(kTxBytes + kStreamBytes * cursor.streams.size());
  engine::AppendU64(engine::Raw(cursor.tx), text);
  for (const engine::StreamCursor& stream : cursor.streams) {
    engine::AppendU32(static_cast<std::uint32_t>(engine::Raw(stream.stream)), text);
    engine::AppendU64(engine::Raw(stream.position), text);
    engine::AppendU64(engine::Raw(stream.digest), text);
  }
  return seal_.Close(kPurpose, text);
}

std::string CursorSeal::ShowView(const engine::View& view) {
  HistoryCursor cursor = CursorOf(view);
  engine::MutexLock lock(mutex_);
  if (token_.empty() || cursor != shown_) {
    token_ = Show(cursor);
    shown_ = std::move(cursor);
  }
  return token_;
}

std::optional<HistoryCursor> CursorSeal::Read(std::string_view token) const {
  const std::optional<std::string> text = seal_.Open(kPurpose, token);
  if (!text || text->size() < kTxBytes || (text->size() - kTxBytes) % kStreamBytes != 0) {
    return std::nullopt;
  }
  HistoryCursor cursor;
  std::string_view rest(*text);
  cursor.tx = engine::Tx{engine::ReadU64(rest)};
  for (rest.remove_prefix(kTxBytes); !rest.empty(); rest.remove_prefix(kStreamBytes)) {
    cursor.streams.push_back({engine::StreamId{engine::ReadU32(rest)},
                              engine::Position{engine::ReadU64(rest.substr(4))},
                              engine::Digest{engine::ReadU64(rest.substr(12))}});
  }
  return cursor;
}

}  // namespace api
